//! The stage kinds that come with the crate, one file each.

use crate::stage::Registry;

/// Registers all of them.
pub(crate) fn register(_registry: &mut Registry) {}
