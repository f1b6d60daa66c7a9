"""Makes vectors with Python's `onnxruntime` and `tokenizers`, for comparison with those of hatir.

    parity.py MODEL_FOLDER TEXTS.jsonl [--keep]

Prints a line of JSON for each line `{"text": …}`: `query`, the vector of the text as a query, and `document`, those of
its windows as a document. How they are made is written in docs/embedding.md; this is a second implementation of it.
With `--keep` the text is printed too, and numbers are rounded to six places: the form of reference.jsonl.
"""

import json
import pathlib
import sys
import tomllib

import numpy as np
import onnxruntime
import tokenizers

OVERLAP = 64


class Model:
    def __init__(self, folder):
        self.manifest = tomllib.loads((folder / "hatir-model.toml").read_text(encoding="utf-8"))
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.tokenizer.encode_special_tokens = True
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def numbers(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def vector(self, numbers):
        """The vector of tokens, special ones put around them."""
        empty = self.tokenizer.encode("", add_special_tokens=True).ids
        # Both models that we have put one token in front and one behind.
        start, end = empty
        whole = np.array([[start, *numbers, end]], np.int64)
        inputs = {"input_ids": whole, "attention_mask": np.ones_like(whole)}
        if any(port.name == "token_type_ids" for port in self.session.get_inputs()):
            inputs["token_type_ids"] = np.zeros_like(whole)
        states = self.session.run(["last_hidden_state"], inputs)[0][0].astype(np.float64)
        vector = states[0] if self.manifest["pooling"] == "cls" else states.mean(axis=0)
        return vector / np.linalg.norm(vector)

    def parts(self, prefix, text):
        head = self.numbers(prefix.rstrip())
        whole = self.numbers(prefix + text)
        assert whole[:len(head)] == head, "the prefix and the text have a token in common"
        return head, whole[len(head):], self.manifest["max-tokens"] - 2 - len(head)

    def query(self, text):
        head, body, room = self.parts(self.manifest["query-prefix"], text)
        return self.vector(head + body[:room])

    def document(self, text):
        head, body, room = self.parts(self.manifest["document-prefix"], text)
        if len(body) <= room:
            return [self.vector(head + body)]
        overlap = min(OVERLAP, room // 4)
        too_much = len(body) - room
        steps = -(-too_much // (room - overlap))
        starts = [too_much * step // steps for step in range(steps + 1)]
        return [self.vector(head + body[start:start + room]) for start in starts]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--keep"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    keep = "--keep" in sys.argv
    model = Model(pathlib.Path(arguments[0]))

    def listed(vector):
        return [round(float(number), 6) if keep else float(number) for number in vector]

    with open(arguments[1], encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            made = {"text": text} if keep else {}
            made["query"] = listed(model.query(text))
            made["document"] = [listed(vector) for vector in model.document(text)]
            print(json.dumps(made, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
