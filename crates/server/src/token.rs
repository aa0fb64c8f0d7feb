//! What has to be known to be let in.

/// A token that this process has made: 128 random bits.
///
/// ```
/// let token = isochrone_server::Token::default();
/// assert!(token.is(token.text()) && !token.is("") && !token.is(isochrone_server::Token::default().text()));
/// ```
#[derive(Debug, Clone)]
pub struct Token(String);

impl Default for Token {
    fn default() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }
}

impl Token {
    /// It, as it is sent: 32 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is it, in a time that does not say where they differ.
    pub fn is(&self, given: &str) -> bool {
        let differs = self.0.bytes().zip(given.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == self.0.len() && differs == 0
    }
}
