//! Names of types: lexical scopes as a tree, so that a named type sees the names of where it was declared.

use std::collections::HashMap;

use super::fields::Site;
use crate::tsdl::{ArrayLength, Enum, Struct, Type, Variant};

/// A lexical scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(usize);

/// All lexical scopes of a text.
pub(super) struct Scopes<'a> {
    scopes: Vec<LexicalScope<'a>>,
}

#[derive(Default)]
struct LexicalScope<'a> {
    parent: Option<ScopeId>,
    names: HashMap<(Namespace, &'a str), Named<'a>>,
}

/// The kinds of names that do not collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Namespace {
    /// Names from `typedef` and `typealias`.
    Alias,
    /// `struct NAME`
    Struct,
    /// `variant NAME`
    Variant,
    /// `enum NAME`
    Enum,
}

/// A type that has a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Definition<'a> {
    /// The type and the array lengths after it.
    Alias(&'a Type<'a>, &'a [ArrayLength<'a>]),
    Struct(&'a Struct<'a>),
    Variant(&'a Variant<'a>),
    Enum(&'a Enum<'a>),
}

impl Definition<'_> {
    /// The address of what is defined, which distinguishes it from all other definitions of the text.
    pub(super) fn address(&self) -> *const () {
        match self {
            Self::Alias(target, _) => std::ptr::from_ref(*target).cast(),
            Self::Struct(defined) => std::ptr::from_ref(*defined).cast(),
            Self::Variant(defined) => std::ptr::from_ref(*defined).cast(),
            Self::Enum(defined) => std::ptr::from_ref(*defined).cast(),
        }
    }
}

/// A definition and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) definition: Definition<'a>,
    pub(super) scope: ScopeId,
    /// Among which fields, if it stands in a structure.
    pub(super) site: Option<Site>,
}

impl<'a> Scopes<'a> {
    /// The scope of the top level.
    pub(super) const ROOT: ScopeId = ScopeId(0);

    pub(super) fn new() -> Self {
        Self { scopes: vec![LexicalScope::default()] }
    }

    pub(super) fn enter(&mut self, parent: ScopeId) -> ScopeId {
        self.scopes.push(LexicalScope { parent: Some(parent), ..LexicalScope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Makes a name known. One that the scope already has is defined again; then the answer is `false`.
    pub(super) fn define(&mut self, namespace: Namespace, name: &'a str, named: Named<'a>) -> bool {
        let before = self.scopes[named.scope.0].names.insert((namespace, name), named);
        before.is_none_or(|before| before.definition.address() == named.definition.address())
    }

    /// What a name means in a scope: the innermost definition.
    pub(super) fn find(&self, mut scope: ScopeId, namespace: Namespace, name: &str) -> Option<Named<'a>> {
        loop {
            let LexicalScope { parent, names } = &self.scopes[scope.0];
            if let Some(named) = names.get(&(namespace, name)) {
                return Some(*named);
            }
            scope = (*parent)?;
        }
    }
}
