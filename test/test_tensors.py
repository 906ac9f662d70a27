"""Files of tensors as others write and read them: plain Python here, through the C code and back.

SMURF_BUILD: build directory, with the program test/unit_tensors (or its path in SMURF_TENSORS).
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("SMURF_TENSORS", os.path.join(os.environ.get("SMURF_BUILD", os.path.join(ROOT, "build")),
                                                       "test", "unit_tensors"))
NUMPY = unittest.skipIf(numpy is None, "numpy is not installed for " + sys.executable)
# dtype -> (format of struct, name in numpy)
TYPES = {"F64": ("d", "<f8"), "F32": ("f", "<f4"), "F16": ("e", "<f2"), "I64": ("q", "<i8"), "I32": ("i", "<i4"),
         "I16": ("h", "<i2"), "I8": ("b", "i1"), "U64": ("Q", "<u8"), "U32": ("I", "<u4"), "U16": ("H", "<u2"),
         "U8": ("B", "u1"), "BOOL": ("?", "?"), "BF16": ("H", None)}


def size(dtype):
    return struct.calcsize("<" + TYPES[dtype][0])


def count(shape):
    product = 1
    for n in shape:
        product *= n
    return product


def pack(tensors, texts=None, pad=b"", shuffle=False, ascii_only=False):
    """The bytes of a file of {name: (dtype, shape, bytes)}."""
    entries, at = [], 0
    for name, (dtype, shape, data) in tensors.items():
        entries.append((name, {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}))
        at += len(data)
    if texts is not None:
        entries.append(("__metadata__", texts))
    if shuffle:
        random.Random(1).shuffle(entries)
    header = json.dumps(dict(entries), ensure_ascii=ascii_only).encode() + pad
    return struct.pack("<Q", len(header)) + header + b"".join(data for _, _, data in tensors.values())


def unpack(blob):
    """({name: (dtype, shape, bytes)} in the order of their bytes, texts); fails on whatever breaks the format."""
    length, = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8:8 + length], object_pairs_hook=unique)
    texts = header.pop("__metadata__", {})
    at, tensors = 0, {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == at and end - begin == count(entry["shape"]) * size(entry["dtype"]), name
        tensors[name] = entry["dtype"], entry["shape"], blob[8 + length + begin:8 + length + end]
        at = end
    assert 8 + length + at == len(blob)
    return tensors, texts


def unique(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def some_tensors(seed):
    """Tensors of every type, of ranks 0 to 8, some empty, most not aligned."""
    draw = random.Random(seed)
    tensors = {}
    for i, dtype in enumerate(list(TYPES) * 3):
        shape = [draw.randrange(0 if draw.random() < 0.1 else 1, 4) for _ in range(draw.randrange(9))]
        name = draw.choice(["encoder.%d.weight", "é %d", '"%d"', "\\%d\n", "😀%d", "\x01%d"]) % i
        tensors[name] = dtype, shape, draw.randbytes(count(shape) * size(dtype))
    return tensors


@unittest.skipUnless(os.path.exists(PROGRAM), "there is no program " + PROGRAM)
class Tensors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.source, self.target = os.path.join(folder.name, "in"), os.path.join(folder.name, "out")

    def run_copy(self, blob):
        with open(self.source, "wb") as out:
            out.write(blob)
        return subprocess.run([PROGRAM, "copy", self.source, self.target], capture_output=True, text=True)

    def copy(self, blob):
        """What the C code writes of what it has read."""
        done = self.run_copy(blob)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.target, "rb") as copied:
            return copied.read()

    def check(self, blob):
        copied = self.copy(blob)
        self.assertEqual(unpack(copied), unpack(blob))
        self.assertEqual(list(unpack(copied)[0]), list(unpack(blob)[0]))
        self.assertEqual((8 + struct.unpack_from("<Q", copied)[0]) % 64, 0)
        self.assertEqual(self.copy(copied), copied)

    def test_every_type_and_rank(self):
        for seed in range(20):
            self.check(pack(some_tensors(seed)))

    def test_headers_in_any_order_padding_and_spelling(self):
        texts = {"config": '{"a": [1, 2]}', "": "", "größe": "∞\n\t\"\\/😀"}
        for seed in range(8):
            self.check(pack(some_tensors(seed), texts, b" " * seed, shuffle=seed % 2 == 0, ascii_only=seed % 3 == 0))

    def test_nothing(self):
        self.check(pack({}))
        self.check(pack({}, {}))
        self.assertEqual(self.copy(pack({})), struct.pack("<Q", 56) + b"{}".ljust(56))

    def test_many(self):
        self.check(pack({f"layer.{i}": ("U16", [1], struct.pack("<H", i)) for i in range(5000)},
                        {f"key {i}": "x" * i for i in range(500)}))

    def test_values_as_struct_reads_them(self):
        for dtype, values in {"F64": (1 / 3, -0.0, 1e308), "F32": (0.5, -2.0), "I64": (-2**63, 2**63 - 1),
                              "U64": (2**64 - 1,), "U8": (0, 255)}.items():
            data = struct.pack(f"<{len(values)}{TYPES[dtype][0]}", *values)
            copied = unpack(self.copy(pack({"odd": ("U8", [1], b"x"), "t": (dtype, [len(values)], data)})))[0]["t"]
            self.assertEqual(struct.unpack(f"<{len(values)}{TYPES[dtype][0]}", copied[2]), values)

    @NUMPY
    def test_arrays_of_numpy(self):
        arrays, tensors = {}, {}
        for dtype, (_, name) in TYPES.items():
            if name:
                arrays[dtype] = numpy.arange(24).reshape(2, 3, 4).astype(name)
                tensors[dtype] = dtype, [2, 3, 4], arrays[dtype].tobytes()
        for dtype, shape, data in unpack(self.copy(pack(tensors)))[0].values():
            numpy.testing.assert_array_equal(numpy.frombuffer(data, TYPES[dtype][1]).reshape(shape), arrays[dtype])

    def test_cut_off_anywhere(self):
        blob = pack({"a": ("F32", [3], bytes(12)), "b": ("U8", [2], b"xy")}, {"k": "v"})
        for cut in range(len(blob)):
            done = self.run_copy(blob[:cut])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^/.*/in: the file ends after %d .*\(the file was cut off: copy it again\)$"
                             % cut)
            self.assertFalse(os.path.exists(self.target))

    def test_damage_is_told_and_the_old_file_stays(self):
        good = self.copy(pack({"a": ("U8", [1], b"x")}))
        for blob, told in [
                (pack({"a": ("U8", [1], b"x")}) + b"y", "trailing data after the last tensor"),
                (pack({"a": ("U8", [2], b"x")}), "tensor 'a' has 1 bytes, but its type and shape make 2"),
                (pack({"a": ("F8", [1], b"x")}), "tensor 'a' is of type 'F8'"),
                (pack({"": ("U8", [1], b"x")}), "needs a name"),
                (pack({"a\x1b[31m": ("U8", [2], b"x")}), "tensor 'a?[31m'"),
                (pack({}, {"k": 1}), "'k' of \"__metadata__\" is not a string"),
                (b"PK\x03\x04 a model of another kind", "not a safetensors file"),
                (struct.pack("<Q", 2) + b"[]", "does not start with '{'")]:
            done = self.run_copy(blob)
            self.assertEqual(done.returncode, 1)
            self.assertIn(told, done.stderr)
            with open(self.target, "rb") as kept:
                self.assertEqual(kept.read(), good)
            self.assertEqual(sorted(os.listdir(self.folder)), ["in", "out"])

    def test_corpus(self):
        """The seeds of the fuzzer, and what it once found: accepted or refused, as plain Python sees them."""
        folder = os.path.join(ROOT, "test", "corpus", "tensors")
        for name in sorted(os.listdir(folder)):
            with self.subTest(name), open(os.path.join(folder, name), "rb") as seed:
                blob = seed.read()
                try:
                    unpack(blob)
                except (AssertionError, ValueError, KeyError, TypeError, AttributeError, struct.error):
                    self.assertEqual(self.run_copy(blob).returncode, 1)
                else:
                    self.check(blob)

    def test_pipes(self):
        blob = pack({"a": ("U8", [3000000], random.Random(0).randbytes(3000000))}, {"k": "v"})
        done = subprocess.run([PROGRAM, "copy", "-", "-"], input=blob, capture_output=True)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(unpack(done.stdout), unpack(blob))
        done = subprocess.run([PROGRAM, "copy", "-", "-"], input=blob + b"x", capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"standard input: byte %d: trailing data" % len(blob), done.stderr)


if __name__ == "__main__":
    unittest.main()
