//! What can be typed after `hatir model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Format;
use crate::models::ModelsArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Show the installed models and those of the catalogue
    List(ListArgs),
    /// Install a model by network, or from a folder, an archive or a wheel
    Install(InstallArgs),
    /// Read every file of the installed models and compare its SHA-256
    Verify(VerifyArgs),
    /// Remove models
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) models: ModelsArgs,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// A model of the catalogue, or `onnxruntime` for the runtime library; with --from it may be left out when the source has a hatir-model.toml
    #[arg(required_unless_present = "from")]
    pub(crate) name: Option<String>,
    /// Install from this folder, .tar, .tar.gz, .zip, Python wheel or ONNX file instead of the network
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// With --from: take the tokenizer.json from this file, folder or archive
    #[arg(long, value_name = "PATH", requires = "from")]
    pub(crate) tokenizer: Option<PathBuf>,
    /// Fetch from this site instead of the publisher's; the paths on it are the same
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    pub(crate) url: Option<String>,
    /// Take whatever the site has, whether or not it is the file that is known; its hashes are printed and recorded
    #[arg(long, conflicts_with = "from")]
    pub(crate) any_hash: bool,
    /// Install it also when it is installed already
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) models: ModelsArgs,
    /// How to print what was installed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The models, or `onnxruntime` (default: all)
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) models: ModelsArgs,
    /// How to print the results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The models, or `onnxruntime`
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) models: ModelsArgs,
    /// How to print what was removed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
