//! Field classes that hold others: structures, arrays, variants, optional fields.

use std::collections::HashSet;

use super::classes::{Classes, Lowered};
use super::json_ref::JsonRef;
use super::locations::{Here, KeyKind};
use super::numbers::{alignment, range_of};
use crate::lower::limits::Measure;
use crate::lower::placing::Placing;
use crate::schema::{
    ArrayClass, FieldClass, Length, Member, OptionalClass, StructClass, VariantClass, VariantOption,
};
use crate::text_error::Result;

/// Sets of integers: first and last of each range.
type Ranges = Vec<(i128, i128)>;

impl<'j> Classes<'j> {
    pub(super) fn structure(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        node.only(&["member-classes", "minimum-alignment"], &mut self.notes)?;
        let min_align = alignment(node, "minimum-alignment")?;
        let mut measure = Measure::empty(min_align);
        let mut members = Vec::new();
        let mut names = HashSet::new();
        let mut placing = Placing::begin();
        here.begin_structure();
        if let Some(list) = node.get("member-classes") {
            for (index, member) in list.elements()?.enumerate() {
                member.only(&["name", "field-class"], &mut self.notes)?;
                let name = member.need("name")?.text()?;
                self.budget.charge_name(name, node.offset)?;
                if !names.insert(name) {
                    return Err(member.error(format!("two members are called `{name}`")));
                }
                here.enter_member(index, name);
                self.field_attributes(&member, here, true)?;
                let lowered = self.class(&member.need("field-class")?, here)?;
                here.leave_member();
                if here.is_root() && !placing.pass(&lowered.class, lowered.measure) {
                    let message = format!(
                        "`{name}` begins inside a byte with another byte order than the field before it: \
                         their values can be wrong"
                    );
                    self.notes.add(member.offset, member.described(message));
                }
                measure = measure.and(lowered.measure, node.offset)?;
                members.push(Member { name: name.to_owned(), class: lowered.class });
            }
        }
        here.end_structure();
        Ok(Lowered { class: FieldClass::Struct(StructClass { members, min_align }), measure })
    }

    pub(super) fn array(
        &mut self,
        node: &JsonRef<'j, '_>,
        kind: &str,
        here: &mut Here<'_>,
    ) -> Result<Lowered> {
        let known = ["length", "length-field-location", "element-field-class", "minimum-alignment"];
        node.only(&known, &mut self.notes)?;
        let length = self.length(node, kind, here)?;
        let min_align = alignment(node, "minimum-alignment")?;
        here.begin_array();
        let element = self.class(&node.need("element-field-class")?, here)?;
        here.end_array();
        let count = match &length {
            Length::Static(count) => Some(*count),
            Length::Dynamic(_) => None,
        };
        let measure = element.measure.times(count, node.offset)?.aligned(min_align);
        let class = ArrayClass { length, element: Box::new(element.class), min_align };
        Ok(Lowered { class: FieldClass::Array(class), measure })
    }

    pub(super) fn variant(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        node.only(&["selector-field-location", "options"], &mut self.notes)?;
        let location = node.need("selector-field-location")?;
        let (selector, kind) = self.key(&location, here)?;
        if kind == KeyKind::Boolean {
            return Err(location.error("the selector of a variant is an integer"));
        }
        let mut measure = Measure::empty(1);
        let mut options = Vec::new();
        let mut names = HashSet::new();
        for (index, option) in node.need("options")?.elements()?.enumerate() {
            option.only(&["name", "field-class", "selector-field-ranges"], &mut self.notes)?;
            let name = option.text_of("name")?;
            if let Some(name) = &name {
                self.budget.charge_name(name, node.offset)?;
                if !names.insert(name.clone()) {
                    return Err(option.error(format!("two options are called `{name}`")));
                }
            }
            let ranges = self.ranges(&option.need("selector-field-ranges")?)?;
            here.enter_choice(index);
            self.field_attributes(&option, here, true)?;
            let lowered = self.class(&option.need("field-class")?, here)?;
            here.leave_choice();
            measure = measure.or(lowered.measure, node.offset)?;
            let name = name.unwrap_or_else(|| "null".to_owned());
            options.push(VariantOption { name, ranges, class: lowered.class });
        }
        if options.is_empty() {
            return Err(node.error("a variant needs options"));
        }
        let selector_signed = kind == KeyKind::Signed;
        let class = VariantClass { selector, selector_signed, options, transparent: true };
        Ok(Lowered { class: FieldClass::Variant(class), measure })
    }

    pub(super) fn optional(&mut self, node: &JsonRef<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        let known = ["selector-field-location", "selector-field-ranges", "field-class"];
        node.only(&known, &mut self.notes)?;
        let (selector, kind) = self.key(&node.need("selector-field-location")?, here)?;
        let ranges = self.presence(node, kind)?;
        let selector_signed = kind == KeyKind::Signed;
        here.enter_choice(0);
        let lowered = self.class(&node.need("field-class")?, here)?;
        here.leave_choice();
        let measure = Measure::empty(1).or(lowered.measure, node.offset)?;
        let selector_is_boolean = kind == KeyKind::Boolean;
        let class = Box::new(lowered.class);
        let class = OptionalClass { selector, selector_signed, selector_is_boolean, ranges, class };
        Ok(Lowered { class: FieldClass::Optional(class), measure })
    }

    /// Selector values with which an optional field is there.
    fn presence(&mut self, node: &JsonRef<'j, '_>, kind: KeyKind) -> Result<Ranges> {
        let ranges = node.get("selector-field-ranges");
        if kind == KeyKind::Boolean {
            if ranges.is_some() {
                let message = "ranges of a selector that is true or false mean nothing; ignored";
                self.notes.add(node.offset, node.described(message));
            }
            return Ok(vec![(1, u64::MAX.into())]);
        }
        let missing = "an integer as selector needs `selector-field-ranges`";
        self.ranges(&ranges.ok_or_else(|| node.error(missing))?)
    }

    /// Selector values. Each use of an alias has its own copy, which costs.
    fn ranges(&mut self, node: &JsonRef<'j, '_>) -> Result<Ranges> {
        let ranges: Vec<_> = node.elements()?.map(|range| range_of(&range)).collect::<Result<_>>()?;
        if ranges.is_empty() {
            return Err(node.error("a set of ranges needs one at least"));
        }
        self.budget.charge(ranges.len() / 4, node.offset)?;
        Ok(ranges)
    }
}
