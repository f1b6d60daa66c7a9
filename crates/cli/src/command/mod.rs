//! One file per command.

pub(crate) mod batch;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod dialog;
pub(crate) mod inspect;
pub(crate) mod model;
pub(crate) mod new;
pub(crate) mod run;
pub(crate) mod test;
