//! A TOML file becomes a checked graph of typed stages, and a runner executes it.
