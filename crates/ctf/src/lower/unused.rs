//! Types that are declared and used by nothing: no event depends on them, but what is wrong with them is
//! said.

use super::fields::Fields;
use super::limits::Budget;
use super::scope::ScopeId;
use super::types::Types;
use crate::schema::Scope;
use crate::text_error::Result;
use crate::tsdl::{Declaration, Declarator, TypeKind};

/// Field classes made only to see whether they can be. Named types multiply, and time must not be spent on
/// those that nothing uses; real metadata have some dozen.
const MAX_TRIED_CLASSES: usize = 1 << 16;

impl<'a> Types<'a> {
    /// Tries all of these declarations that nothing has used, as far as the limit allows, and notes what is
    /// wrong.
    pub(super) fn try_unused(&mut self, declared: &[(ScopeId, &'a Declaration<'a>)]) {
        self.budget = Budget::of(MAX_TRIED_CLASSES);
        for (scope, declaration) in declared {
            if self.is_used(declaration) {
                continue;
            }
            self.missed = false;
            let outcome = self.try_declaration(*scope, declaration);
            if self.budget.is_exceeded() {
                return;
            }
            // A length or a tag may be a field of the place where the type is used.
            if let Err(wrong) = outcome
                && !self.missed
            {
                self.notes.add(wrong.offset, format!("{} (in a type that nothing uses)", wrong.message));
            }
        }
    }

    fn is_used(&self, declaration: &Declaration<'_>) -> bool {
        let address = match declaration {
            Declaration::Typedef(typedef) => std::ptr::from_ref(&typedef.target).cast(),
            Declaration::Typealias(alias) => std::ptr::from_ref(&alias.target).cast(),
            Declaration::Type(declared) => match &declared.kind {
                TypeKind::Struct(class) => std::ptr::from_ref(&**class).cast(),
                TypeKind::Variant(class) => std::ptr::from_ref(&**class).cast(),
                TypeKind::Enum(class) => std::ptr::from_ref(&**class).cast(),
                _ => return false,
            },
        };
        self.used.contains(&address)
    }

    fn try_declaration(&mut self, scope: ScopeId, declaration: &'a Declaration<'a>) -> Result<()> {
        let fields = &mut Fields::new(Scope::Payload, &[]);
        match declaration {
            Declaration::Typedef(typedef) => {
                for Declarator { lengths, .. } in &typedef.declarators {
                    let lowered = self.lower(scope, fields, &typedef.target)?;
                    self.arrays(fields, lowered, lengths)?;
                }
            }
            Declaration::Typealias(alias) => {
                let lowered = self.lower(scope, fields, &alias.target)?;
                self.arrays(fields, lowered, &alias.lengths)?;
            }
            Declaration::Type(declared) => drop(self.lower(scope, fields, declared)?),
        }
        Ok(())
    }
}
