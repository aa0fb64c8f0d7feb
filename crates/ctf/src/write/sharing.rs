//! Comparing two schemas whose fields share mappings and user attributes: each pair of them is compared once,
//! not once for each field that has it. Used by [`super::metadata()`].

use std::collections::HashMap;

use crate::schema::{FieldClass, Mapping, Schema, StructClass};

/// Whether a schema that was read is this one. Linear in their field classes and in what these share.
pub(super) fn is_same(mut read: Schema, schema: &Schema) -> bool {
    let mut sharing = Sharing::default();
    sharing.scope(read.packet_header.as_mut(), schema.packet_header.as_ref());
    for (read, stream) in read.streams.iter_mut().zip(&schema.streams) {
        sharing.scope(read.packet_context.as_mut(), stream.packet_context.as_ref());
        sharing.scope(read.event_header.as_mut(), stream.event_header.as_ref());
        sharing.scope(read.common_context.as_mut(), stream.common_context.as_ref());
        for (read, event) in read.events.iter_mut().zip(&stream.events) {
            sharing.scope(read.specific_context.as_mut(), event.specific_context.as_ref());
            sharing.scope(read.payload.as_mut(), event.payload.as_ref());
        }
    }
    read.attributes.share(&schema.attributes);
    // What is the same object now is not looked into.
    read == *schema
}

/// Takes equal mappings from the other schema.
#[derive(Default)]
struct Sharing(HashMap<[*const Mapping; 2], bool>);

impl Sharing {
    fn scope(&mut self, read: Option<&mut StructClass>, class: Option<&StructClass>) {
        for (read, member) in
            read.into_iter().zip(class).flat_map(|(a, b)| a.members.iter_mut().zip(&b.members))
        {
            self.class(&mut read.class, &member.class);
        }
    }

    fn class(&mut self, read: &mut FieldClass, class: &FieldClass) {
        use FieldClass::{Array, Integer, Optional, Struct, VarInteger, Variant, WideInteger};
        match (read, class) {
            (
                Integer(read) | VarInteger(read) | WideInteger(read),
                Integer(class) | VarInteger(class) | WideInteger(class),
            ) => {
                let Some((read, mappings)) = read.mappings.as_mut().zip(class.mappings.as_ref()) else {
                    return;
                };
                let compared = self.0.entry([read.as_ptr(), mappings.as_ptr()]);
                if *compared.or_insert_with(|| read == mappings) {
                    *read = mappings.clone();
                }
            }
            (Struct(read), Struct(class)) => self.scope(Some(read), Some(class)),
            (Array(read), Array(class)) => self.class(&mut read.element, &class.element),
            (Optional(read), Optional(class)) => self.class(&mut read.class, &class.class),
            (Variant(read), Variant(class)) => {
                for (read, option) in read.options.iter_mut().zip(&class.options) {
                    self.class(&mut read.class, &option.class);
                }
            }
            _ => {}
        }
    }
}
