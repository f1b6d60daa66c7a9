//! Exact token counts, and text that fits a token budget.
