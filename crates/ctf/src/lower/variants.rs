//! Variants: the tag they are chosen by, and their options.

use std::collections::HashSet;

use super::fields::Fields;
use super::limits::Measure;
use super::placing::Placing;
use super::scope::{Definition, Namespace, ScopeId};
use super::types::{Lowered, Purpose, Types};
use crate::schema::{FieldClass, Location, Mappings, VariantClass, VariantOption};
use crate::text_error::{Result, TextError};
use crate::tsdl::{Member, Path, Variant};

/// A tag: where it is, whether it is signed, and the labels of its values.
type Tag = (Location, bool, Mappings);

impl<'a> Types<'a> {
    pub(super) fn variant(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Variant<'a>,
    ) -> Result<Lowered> {
        if class.members.is_some() {
            return self.tagged_variant(scope, fields, offset, None, class);
        }
        let (name, named) = self.tagged(scope, Namespace::Variant, class.name, offset)?;
        let Definition::Variant(definition) = named.definition else {
            return Err(TextError::new(offset, format!("no variant is called `{name}`")));
        };
        // A tag that is given here is a field of this place, one of the definition a field of that place.
        let tag = class.tag.as_ref().map(|tag| self.tag(fields, tag)).transpose()?;
        self.using(fields, named, (name, offset), |types, fields| {
            types.tagged_variant(named.scope, fields, offset, tag, definition)
        })
    }

    fn tag(&mut self, fields: &Fields<'_>, path: &Path<'_>) -> Result<Tag> {
        let (location, class) = self.find_field(fields, path, Purpose::Tag)?;
        let none = || TextError::new(path.offset, format!("`{path}` is not an enum: it cannot be a tag"));
        Ok((location, class.signed, class.mappings.clone().ok_or_else(none)?))
    }

    /// A variant with this tag, or with its own.
    fn tagged_variant(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        tag: Option<Tag>,
        class: &'a Variant<'a>,
    ) -> Result<Lowered> {
        let own = class.tag.as_ref().filter(|_| tag.is_none());
        let Some(tag) = own.map(|tag| self.tag(fields, tag)).transpose()?.or(tag) else {
            // Callers that use the variant may give it.
            self.missed = true;
            return Err(TextError::new(offset, "a variant needs a tag: `variant <field>`"));
        };
        let (selector, selector_signed, mappings) = tag;
        let labels = self.labels(&mappings);
        let scope = self.scopes.enter(scope);
        let mut options: Vec<VariantOption> = Vec::new();
        let mut names = HashSet::new();
        let mut measure = Measure::empty(1);
        for member in class.members.iter().flatten() {
            let field = match member {
                Member::Declaration(declaration) => {
                    self.declare_inside(scope, fields.site(), declaration, offset)?;
                    continue;
                }
                Member::Field(field) => field,
            };
            self.declare_tags(scope, fields.site(), &field.target);
            for declarator in &field.declarators {
                let name = declarator.name;
                if !names.insert(name.text) {
                    let message = format!("two options of the variant are called `{}`", name.text);
                    return Err(TextError::new(name.offset, message));
                }
                let lowered =
                    self.declared(scope, fields, &field.target, declarator, &mut Placing::unknown())?;
                measure = measure.or(lowered.measure, name.offset)?;
                let ranges = labels.ranges(name.text).to_vec();
                // Each takes memory, and time when the variant chooses.
                self.budget.charge(ranges.len(), name.offset)?;
                options.push(VariantOption { name: name.text.to_owned(), ranges, class: lowered.class });
            }
        }
        if !options.is_empty() && options.iter().all(|option| option.ranges.is_empty()) {
            self.notes
                .add(offset, "no label of the tag is the name of an option: the variant cannot be read");
        }
        let class =
            FieldClass::Variant(VariantClass { selector, selector_signed, options, transparent: false });
        Ok(Lowered { class, character: false, measure })
    }
}
