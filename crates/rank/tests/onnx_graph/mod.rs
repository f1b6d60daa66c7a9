//! Model folders small enough to be written by a test: a few words, vectors of two numbers, and whatever oddity.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The words of the tokeniser, by their numbers.
pub(crate) const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "query", "passage", ":", "##ish", "sea"];

/// A protocol buffer on its way (the wire format of protobuf, version 3).
#[derive(Default, Clone)]
struct Message(Vec<u8>);

impl Message {
    fn varint(mut self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    fn number(self, field: u64, number: u64) -> Self {
        self.varint(field << 3).varint(number)
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        message.0.extend_from_slice(bytes);
        message
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A graph under construction, as `onnx.proto` describes it.
#[derive(Clone)]
pub(crate) struct Graph {
    graph: Message,
}

impl Graph {
    fn new() -> Self {
        Self { graph: Message::default().text(2, "tiny") }
    }

    fn constant(mut self, name: &str, dims: &[u64], values: &[f32]) -> Self {
        let mut tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.number(1, *dim));
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        tensor = tensor.number(2, FLOAT).text(8, name).bytes(9, &raw);
        self.graph = self.graph.message(5, &tensor);
        self
    }

    fn number_constant(mut self, name: &str, value: i64) -> Self {
        let tensor = Message::default().number(1, 1).number(2, INT64).text(8, name).bytes(9, &value.to_le_bytes());
        self.graph = self.graph.message(5, &tensor);
        self
    }

    /// A node that takes a side of its input away.
    fn reduce(mut self, operator: &str, inputs: &[&str], output: &str) -> Self {
        // An attribute of the type INT, which is 2.
        let keep = Message::default().text(1, "keepdims").number(3, 0).number(20, 2);
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        self.graph = self.graph.message(1, &node.text(2, output).text(3, output).text(4, operator).message(5, &keep));
        self
    }

    fn node(mut self, operator: &str, inputs: &[&str], outputs: &[&str]) -> Self {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = outputs.iter().fold(node, |node, output| node.text(2, output));
        self.graph = self.graph.message(1, &node.text(3, outputs[0]).text(4, operator));
        self
    }

    /// An input (11) or an output (12) of texts and tokens, or of the sides given.
    fn port(mut self, field: u64, name: &str, kind: u64, sides: &[&str]) -> Self {
        let shape = sides.iter().fold(Message::default(), |shape, side| {
            let dim = Message::default();
            let dim = side.parse().map_or_else(|_| dim.clone().text(2, side), |number| dim.clone().number(1, number));
            shape.message(1, &dim)
        });
        let tensor = Message::default().number(1, kind).message(2, &shape);
        let port = Message::default().text(1, name).message(2, &Message::default().message(1, &tensor));
        self.graph = self.graph.message(field, &port);
        self
    }

    pub(crate) fn input(self, name: &str) -> Self {
        self.port(11, name, INT64, &["texts", "tokens"])
    }

    pub(crate) fn float_input(self, name: &str) -> Self {
        self.port(11, name, FLOAT, &["texts", "tokens"])
    }

    fn output(self, name: &str, sides: &[&str]) -> Self {
        self.port(12, name, FLOAT, sides)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let operators = Message::default().text(1, "").number(2, 17);
        Message::default().number(1, 8).message(7, &self.graph).message(8, &operators).0
    }
}

/// Each word has a vector of its own: its number, and one.
fn words() -> Graph {
    let table: Vec<f32> = (0..WORDS.len()).flat_map(|word| [word as f32, 1.0]).collect();
    Graph::new().constant("table", &[WORDS.len() as u64, 2], &table).input("input_ids").input("attention_mask").node(
        "Gather",
        &["table", "input_ids"],
        &["words"],
    )
}

/// The vectors of the words, as they are, under the name of an output.
pub(crate) fn plain(output: &str) -> Graph {
    words().node("Identity", &["words"], &[output]).output(output, &["texts", "tokens", "2"])
}

/// As [`plain`], and of types: type zero adds (0, 2).
pub(crate) fn with_types() -> Graph {
    words()
        .input("token_type_ids")
        .constant("types", &[2, 2], &[0.0, 2.0, 100.0, 100.0])
        .node("Gather", &["types", "token_type_ids"], &["type"])
        .node("Add", &["words", "type"], &["last_hidden_state"])
        .output("last_hidden_state", &["texts", "tokens", "2"])
}

/// One vector for each text: the sum of its words', padding included.
pub(crate) fn pooled() -> Graph {
    words()
        .number_constant("axis", 1)
        .reduce("ReduceSum", &["words", "axis"], "sentence_embedding")
        .output("sentence_embedding", &["texts", "2"])
}

/// A graph whose vectors are not numbers.
pub(crate) fn not_a_number() -> Graph {
    words()
        .node("Sub", &["words", "words"], &["zero"])
        .node("Div", &["zero", "zero"], &["last_hidden_state"])
        .output("last_hidden_state", &["texts", "tokens", "2"])
}

/// A graph that takes one scale for all the numbers of a batch.
pub(crate) fn mixing() -> Graph {
    words()
        .node("DynamicQuantizeLinear", &["words"], &["bytes", "scale", "zero"])
        .node("DequantizeLinear", &["bytes", "scale", "zero"], &["last_hidden_state"])
        .output("last_hidden_state", &["texts", "tokens", "2"])
}

/// A tokeniser of the `WordPiece` kind.
pub(crate) fn tokenizer() -> String {
    let words: Vec<String> = WORDS.iter().enumerate().map(|(number, word)| format!("\"{word}\":{number}")).collect();
    let special = |number: usize| {
        format!(
            r#"{{"id":{number},"content":"{}","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,
            "special":true}}"#,
            WORDS[number]
        )
    };
    format!(
        r###"{{"version":"1.0","truncation":{{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0}},
        "padding":{{"strategy":{{"Fixed":8}},"direction":"Right","pad_to_multiple_of":null,"pad_id":0,"pad_type_id":0,
        "pad_token":"[PAD]"}},"added_tokens":[{},{},{},{}],
        "normalizer":{{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,
        "lowercase":true}},"pre_tokenizer":{{"type":"BertPreTokenizer"}},
        "post_processor":{{"type":"TemplateProcessing","single":[{{"SpecialToken":{{"id":"[CLS]","type_id":0}}}},
        {{"Sequence":{{"id":"A","type_id":0}}}},{{"SpecialToken":{{"id":"[SEP]","type_id":0}}}}],"pair":[
        {{"Sequence":{{"id":"A","type_id":0}}}},{{"Sequence":{{"id":"B","type_id":1}}}}],
        "special_tokens":{{"[CLS]":{{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]}},
        "[SEP]":{{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}}}}},
        "decoder":null,"model":{{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
        "max_input_chars_per_word":100,"vocab":{{{}}}}}}}"###,
        special(0),
        special(1),
        special(2),
        special(3),
        words.join(",")
    )
}

/// Writes a model folder whose manifest has the right hashes; `changes` replace parts of the manifest.
pub(crate) fn write_folder(folder: &Path, graph: &[u8], tokenizer: &str, changes: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.onnx"), graph).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
    let hash = |bytes: &[u8]| {
        let digits = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
        digits.concat()
    };
    let mut manifest = format!(
        "version = 1\nname = \"tiny\"\ndimension = 2\npooling = \"mean\"\nquery-prefix = \"query: \"\n\
         document-prefix = \"passage: \"\nmax-tokens = 16\nlicence = \"MIT\"\n\n[evidence]\nweight = 1\nfloor = 0\n\
         weak = 0\ngood = 0.5\n\n[files]\n\"model.onnx\" = \"{}\"\n\"tokenizer.json\" = \"{}\"\n",
        hash(graph),
        hash(tokenizer.as_bytes())
    );
    for (from, to) in changes {
        assert!(manifest.contains(from), "{from}");
        manifest = manifest.replace(from, to);
    }
    fs::write(folder.join("hatir-model.toml"), manifest).unwrap();
}
