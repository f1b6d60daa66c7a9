//! A walk over the links between documents.
