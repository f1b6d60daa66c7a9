//! Dates and periods in what people write.
