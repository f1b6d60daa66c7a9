//! What kind of answer a question wants.
#![allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intent {
    #[default]
    General,
}
pub struct Multipliers {
    pub semantic: f64,
    pub lexical: f64,
    pub temporal_and_importance: f64,
}
impl Intent {
    pub fn multipliers(self) -> Multipliers {
        Multipliers { semantic: 1.0, lexical: 1.0, temporal_and_importance: 1.0 }
    }
}
pub(crate) fn intent_of(_: &str, _: Option<crate::Language>) -> Intent {
    Intent::General
}
