//! Facts over time in SQLite: recorded, superseded, read back as of any moment.
