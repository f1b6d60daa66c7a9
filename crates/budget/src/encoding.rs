use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Which vocabulary the tokens are counted in.
///
/// The names are those of OpenAI's `tiktoken`, and are what [`Encoding::from_str`] reads, [`Encoding::as_str`] and
/// `Display` write, and serde uses in both directions.
///
/// ```
/// use hatir_budget::Encoding;
///
/// assert_eq!("o200k_base".parse(), Ok(Encoding::O200kBase));
/// assert_eq!(Encoding::default().as_str(), "cl100k_base");
/// assert_eq!(
///     "gpt2".parse::<Encoding>().unwrap_err().to_string(),
///     "unknown encoding `gpt2`; expected one of cl100k_base, o200k_base",
/// );
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// `cl100k_base`, about 100,000 tokens: GPT-4, GPT-3.5 and the `text-embedding-3` models. Most published figures
    /// are in it, which is why it is the default.
    #[default]
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
    /// `o200k_base`, about 200,000 tokens: GPT-4o and later. Turkish prose needs nearly a third fewer tokens in it.
    #[serde(rename = "o200k_base")]
    O200kBase,
}

impl Encoding {
    /// Every encoding, in the order in which messages list them.
    pub const ALL: [Encoding; 2] = [Encoding::Cl100kBase, Encoding::O200kBase];

    /// The encoding's name in `tiktoken`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::O200kBase => "o200k_base",
        }
    }

    pub(crate) fn listed() -> String {
        Encoding::ALL.map(Encoding::as_str).join(", ")
    }

    /// The encoding's tables, built by whoever asks first.
    pub(crate) fn tables(self) -> &'static Tables {
        static CL100K_BASE: LazyLock<Tables> = LazyLock::new(|| Tables::new(bpe_openai::cl100k_base()));
        static O200K_BASE: LazyLock<Tables> = LazyLock::new(|| Tables::new(bpe_openai::o200k_base()));
        match self {
            Encoding::Cl100kBase => &CL100K_BASE,
            Encoding::O200kBase => &O200K_BASE,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Encoding::ALL
            .into_iter()
            .find(|encoding| encoding.as_str() == name)
            .ok_or_else(|| Error::UnknownEncoding { found: name.to_owned() })
    }
}

/// A tokeniser and what cutting needs to know about its vocabulary.
pub(crate) struct Tables {
    pub(crate) tokenizer: &'static Tokenizer,
    /// Bytes of the longest token. A text of *n* tokens has at most *n* times as many.
    pub(crate) longest_token: usize,
}

impl Tables {
    fn new(tokenizer: &'static Tokenizer) -> Self {
        let bpe = &tokenizer.bpe;
        let longest_token = (0..bpe.num_tokens() as u32).map(|token| bpe.token_len(token)).max().unwrap_or(1);
        Tables { tokenizer, longest_token }
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}
