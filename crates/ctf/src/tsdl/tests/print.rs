//! A compact rendering of the tree, so that tests show in one line what was understood.
//!
//! Fields read `name: type`, array lengths stay with the name, names of types are in single quotes.

use super::super::{
    ArrayLength, Assignment, Ast, Declaration, Declarator, Entry, Enumerator, Item, Member, Name, Type,
    TypeKind, Value, ValueKind,
};

/// The whole tree, items separated by spaces.
pub(super) fn tree(ast: &Ast<'_>) -> String {
    joined(&ast.items, " ", |item| match item {
        Item::Declaration(it) => declaration(it),
        Item::Block(it) => format!("{:?}{{ {} }}", it.kind, joined(&it.entries, "; ", entry)),
    })
}

fn entry(entry: &Entry<'_>) -> String {
    match entry {
        Entry::Declaration(it) => declaration(it),
        Entry::Value(it) => assignment(it),
        Entry::Type(it) => format!("{} := {}", it.path, written(&it.target)),
    }
}

fn assignment(it: &Assignment<'_>) -> String {
    format!("{} = {}", it.path, value(&it.value))
}

fn value(value: &Value<'_>) -> String {
    match &value.kind {
        ValueKind::Integer(it) => it.to_string(),
        ValueKind::String(it) => format!("{it:?}"),
        ValueKind::Path(it) => it.to_string(),
    }
}

fn declaration(declaration: &Declaration<'_>) -> String {
    match declaration {
        Declaration::Typedef(it) => {
            format!("typedef {}: {}", joined(&it.declarators, ", ", declarator), written(&it.target))
        }
        Declaration::Typealias(it) => {
            format!(
                "typealias '{}': {}{}",
                it.name.text,
                written(&it.target),
                joined(&it.lengths, "", length)
            )
        }
        Declaration::Type(it) => format!("declare {}", written(it)),
    }
}

fn declarator(it: &Declarator<'_>) -> String {
    let bits = it.bits.map(|bits| format!("/{bits}")).unwrap_or_default();
    format!("{}{bits}{}", it.name.text, joined(&it.lengths, "", length))
}

fn length(length: &ArrayLength<'_>) -> String {
    match length {
        ArrayLength::Fixed { count, .. } => format!("[{count}]"),
        ArrayLength::Field(path) => format!("[{path}]"),
    }
}

fn member(member: &Member<'_>) -> String {
    match member {
        Member::Declaration(it) => declaration(it),
        Member::Field(it) => {
            format!("{}: {}", joined(&it.declarators, ", ", declarator), written(&it.target))
        }
    }
}

fn enumerator(it: &Enumerator<'_>) -> String {
    match it.range {
        None => it.label.to_string(),
        Some((first, last)) if first == last => format!("{}={first}", it.label),
        Some((first, last)) => format!("{}={first}..{last}", it.label),
    }
}

fn written(it: &Type<'_>) -> String {
    match &it.kind {
        TypeKind::Named(name) => format!("'{name}'"),
        TypeKind::Integer(attributes) => format!("integer({})", joined(attributes, ", ", assignment)),
        TypeKind::FloatingPoint(attributes) => format!("float({})", joined(attributes, ", ", assignment)),
        TypeKind::String(attributes) => format!("string({})", joined(attributes, ", ", assignment)),
        TypeKind::Enum(it) => {
            let container = it.container.as_ref().map(|it| format!(" : {}", written(it))).unwrap_or_default();
            format!("enum{}{container}{}", tag(it.name), body(it.enumerators.as_deref(), ", ", enumerator))
        }
        TypeKind::Struct(it) => {
            let align = it.align.as_ref().map(|it| format!(" align({})", value(it))).unwrap_or_default();
            format!("struct{}{}{align}", tag(it.name), body(it.members.as_deref(), "; ", member))
        }
        TypeKind::Variant(it) => {
            let selector = it.tag.as_ref().map(|path| format!(" <{path}>")).unwrap_or_default();
            format!("variant{}{selector}{}", tag(it.name), body(it.members.as_deref(), "; ", member))
        }
    }
}

fn tag(name: Option<Name<'_>>) -> String {
    name.map(|name| format!(" {}", name.text)).unwrap_or_default()
}

fn body<T>(list: Option<&[T]>, separator: &str, print: fn(&T) -> String) -> String {
    list.map(|list| format!(" {{{}}}", joined(list, separator, print))).unwrap_or_default()
}

fn joined<T>(list: &[T], separator: &str, print: fn(&T) -> String) -> String {
    list.iter().map(print).collect::<Vec<_>>().join(separator)
}
