//! Variants: the tag they are chosen by, and their options.

use std::collections::HashSet;

use super::Complaint;
use super::fields::Fields;
use super::limits::Measure;
use super::scope::{Definition, Namespace, ScopeId};
use super::types::{Lowered, Types};
use crate::schema::{FieldClass, VariantClass, VariantOption};
use crate::tsdl::{Member, Variant};

type Result<T> = std::result::Result<T, Complaint>;

impl<'a> Types<'a> {
    pub(super) fn variant(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Variant<'a>,
    ) -> Result<Lowered> {
        let mut tag = class.tag.as_ref();
        let (mut scope, mut definition) = (scope, class);
        if class.members.is_none() {
            let (name, named) = self.tagged(scope, Namespace::Variant, class.name, offset)?;
            let Definition::Variant(found) = named.definition else {
                return Err(Complaint::new(offset, format!("no variant is called `{name}`")));
            };
            (scope, definition) = (named.scope, found);
            tag = tag.or(found.tag.as_ref());
        }
        let tag = tag.ok_or_else(|| Complaint::new(offset, "a variant needs a tag: `variant <field>`"))?;
        let (selector, class) = self.find_field(fields, tag)?;
        let selector_signed = class.signed;
        let mappings = class
            .mappings
            .clone()
            .ok_or_else(|| Complaint::new(tag.offset, format!("`{tag}` is no enum: it cannot be a tag")))?;
        let labels = self.labels(&mappings);
        let scope = self.scopes.enter(scope);
        let mut options: Vec<VariantOption> = Vec::new();
        let mut names = HashSet::new();
        let mut measure = Measure::empty(1);
        for member in definition.members.iter().flatten() {
            let field = match member {
                Member::Declaration(declaration) => {
                    self.declare_inside(scope, declaration, offset)?;
                    continue;
                }
                Member::Field(field) => field,
            };
            self.declare_tags(scope, &field.target);
            for declarator in &field.declarators {
                let name = declarator.name;
                if !names.insert(name.text) {
                    let message = format!("two options of the variant are called `{}`", name.text);
                    return Err(Complaint::new(name.offset, message));
                }
                let lowered = self.declared(scope, fields, &field.target, declarator)?;
                measure = measure.or(lowered.measure, name.offset)?;
                let ranges = labels.ranges(name.text).to_vec();
                // Each takes memory, and time when the variant chooses.
                self.budget.charge(ranges.len(), name.offset)?;
                options.push(VariantOption { name: name.text.to_owned(), ranges, class: lowered.class });
            }
        }
        let class =
            FieldClass::Variant(VariantClass { selector, selector_signed, options, transparent: false });
        Ok(Lowered { class, character: false, measure })
    }
}
