//! Turns a follow-up into a stand-alone query, by rules that explain themselves. English and Turkish.
