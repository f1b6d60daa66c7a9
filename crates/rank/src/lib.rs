//! Ranks documents by voices that explain themselves, fused by weighted reciprocal rank.
