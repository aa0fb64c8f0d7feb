//! The token that clients on this machine send: other accounts of it may not read what the user may.

use isochrone::shared;
use tonic::{Request, Status};

/// A token of one server, or none where a certificate, or everybody on this machine, is let in.
#[derive(Debug, Clone)]
pub(crate) struct Token(Option<shared::Token>);

impl Token {
    /// A new one, if it is `needed`.
    pub(crate) fn new(needed: bool) -> Self {
        Self(needed.then(shared::Token::default))
    }

    /// The line to send, as the header `authorization` has it.
    pub(crate) fn line(&self) -> Option<String> {
        self.0.as_ref().map(|token| format!("Bearer {}", token.text()))
    }

    /// Lets in a call that has the token.
    ///
    /// # Errors
    /// It has none, or another one.
    pub(crate) fn check(&self, call: Request<()>) -> Result<Request<()>, Status> {
        let Some(token) = &self.0 else { return Ok(call) };
        let given = call.metadata().get("authorization").and_then(|line| line.to_str().ok());
        match given.and_then(|line| line.strip_prefix("Bearer ")).is_some_and(|given| token.is(given)) {
            true => Ok(call),
            false => Err(Status::unauthenticated(
                "the header `authorization` has to be the line that the server printed: Bearer TOKEN",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_let_in() {
        let call = |line: Option<&str>| {
            let mut call = Request::new(());
            if let Some(line) = line {
                call.metadata_mut().insert("authorization", line.parse().unwrap());
            }
            call
        };
        let token = Token::new(true);
        let line = token.line().unwrap();
        assert!(token.check(call(Some(&line))).is_ok());
        let other = Token::new(true).line().unwrap();
        for wrong in [None, Some(""), Some("Bearer "), Some(&line[7..]), Some(&other), Some(&line[..38])] {
            assert!(token.check(call(wrong)).is_err(), "{wrong:?}");
        }
        assert!(Token::new(false).check(call(None)).is_ok());
    }
}
