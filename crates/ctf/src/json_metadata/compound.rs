//! Field classes that hold others: structures, arrays, variants, optional fields.

use std::collections::HashSet;

use super::classes::{Classes, Lowered};
use super::locations::{Here, KeyKind};
use super::numbers::{alignment, range_of};
use super::place::Place;
use crate::lower::Complaint;
use crate::lower::limits::Measure;
use crate::lower::placing::Placing;
use crate::schema::{
    ArrayClass, FieldClass, Length, Member, OptionalClass, StructClass, VariantClass, VariantOption,
};

type Result<T> = std::result::Result<T, Complaint>;

/// Sets of integers: first and last of each range.
type Ranges = Vec<(i128, i128)>;

impl<'j> Classes<'j> {
    pub(super) fn structure(&mut self, place: &Place<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        place.only(&["member-classes", "minimum-alignment"], &mut self.notes)?;
        let min_align = alignment(place, "minimum-alignment")?;
        let mut measure = Measure::empty(min_align);
        let mut members = Vec::new();
        let mut names = HashSet::new();
        let mut placing = Placing::begin();
        here.begin_structure();
        if let Some(list) = place.get("member-classes") {
            for (index, member) in list.elements()?.enumerate() {
                member.only(&["name", "field-class"], &mut self.notes)?;
                let name = member.need("name")?.text()?;
                self.budget.charge_name(name, place.offset)?;
                if !names.insert(name) {
                    return Err(member.complaint(format!("two members are called `{name}`")));
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
                measure = measure.and(lowered.measure, place.offset)?;
                members.push(Member { name: name.to_owned(), class: lowered.class });
            }
        }
        here.end_structure();
        Ok(Lowered { class: FieldClass::Struct(StructClass { members, min_align }), measure })
    }

    pub(super) fn array(
        &mut self,
        place: &Place<'j, '_>,
        kind: &str,
        here: &mut Here<'_>,
    ) -> Result<Lowered> {
        let known = ["length", "length-field-location", "element-field-class", "minimum-alignment"];
        place.only(&known, &mut self.notes)?;
        let length = self.length(place, kind, here)?;
        let min_align = alignment(place, "minimum-alignment")?;
        here.begin_array();
        let element = self.class(&place.need("element-field-class")?, here)?;
        here.end_array();
        let count = match &length {
            Length::Static(count) => Some(*count),
            Length::Dynamic(_) => None,
        };
        let measure = element.measure.times(count, place.offset)?.aligned(min_align);
        let class = ArrayClass { length, element: Box::new(element.class), min_align };
        Ok(Lowered { class: FieldClass::Array(class), measure })
    }

    pub(super) fn variant(&mut self, place: &Place<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        place.only(&["selector-field-location", "options"], &mut self.notes)?;
        let location = place.need("selector-field-location")?;
        let (selector, kind) = self.key(&location, here)?;
        if kind == KeyKind::Boolean {
            return Err(location.complaint("the selector of a variant is an integer"));
        }
        let mut measure = Measure::empty(1);
        let mut options = Vec::new();
        let mut names = HashSet::new();
        for (index, option) in place.need("options")?.elements()?.enumerate() {
            option.only(&["name", "field-class", "selector-field-ranges"], &mut self.notes)?;
            let name = option.text_of("name")?;
            if let Some(name) = &name {
                self.budget.charge_name(name, place.offset)?;
                if !names.insert(name.clone()) {
                    return Err(option.complaint(format!("two options are called `{name}`")));
                }
            }
            let ranges = self.ranges(&option.need("selector-field-ranges")?)?;
            here.enter_choice(index);
            self.field_attributes(&option, here, true)?;
            let lowered = self.class(&option.need("field-class")?, here)?;
            here.leave_choice();
            measure = measure.or(lowered.measure, place.offset)?;
            let name = name.unwrap_or_else(|| "null".to_owned());
            options.push(VariantOption { name, ranges, class: lowered.class });
        }
        if options.is_empty() {
            return Err(place.complaint("a variant needs options"));
        }
        let selector_signed = kind == KeyKind::Signed;
        let class = VariantClass { selector, selector_signed, options, transparent: true };
        Ok(Lowered { class: FieldClass::Variant(class), measure })
    }

    pub(super) fn optional(&mut self, place: &Place<'j, '_>, here: &mut Here<'_>) -> Result<Lowered> {
        let known = ["selector-field-location", "selector-field-ranges", "field-class"];
        place.only(&known, &mut self.notes)?;
        let (selector, kind) = self.key(&place.need("selector-field-location")?, here)?;
        let ranges = self.presence(place, kind)?;
        let selector_signed = kind == KeyKind::Signed;
        here.enter_choice(0);
        let lowered = self.class(&place.need("field-class")?, here)?;
        here.leave_choice();
        let measure = Measure::empty(1).or(lowered.measure, place.offset)?;
        let selector_is_boolean = kind == KeyKind::Boolean;
        let class = Box::new(lowered.class);
        let class = OptionalClass { selector, selector_signed, selector_is_boolean, ranges, class };
        Ok(Lowered { class: FieldClass::Optional(class), measure })
    }

    /// Selector values with which an optional field is there.
    fn presence(&mut self, place: &Place<'j, '_>, kind: KeyKind) -> Result<Ranges> {
        let ranges = place.get("selector-field-ranges");
        if kind == KeyKind::Boolean {
            if ranges.is_some() {
                let message = "ranges of a selector that is true or false mean nothing; ignored";
                self.notes.add(place.offset, place.described(message));
            }
            return Ok(vec![(1, u64::MAX.into())]);
        }
        let missing = "an integer as selector needs `selector-field-ranges`";
        self.ranges(&ranges.ok_or_else(|| place.complaint(missing))?)
    }

    /// Selector values. Each use of an alias has its own copy, which costs.
    fn ranges(&mut self, place: &Place<'j, '_>) -> Result<Ranges> {
        let ranges: Vec<_> = place.elements()?.map(|range| range_of(&range)).collect::<Result<_>>()?;
        if ranges.is_empty() {
            return Err(place.complaint("a set of ranges needs one at least"));
        }
        self.budget.charge(ranges.len() / 4, place.offset)?;
        Ok(ranges)
    }
}
