"""--device: where training runs; and what is said where there is no GPU."""
import json
import unittest

import common

EVENTS = "\n".join(["case,time,type"] +
                   [f"c{c},{10 * c + t * (1 + t % 3)},{'ab'[t % 2]}" for c in range(12) for t in range(12)]) + "\n"
QUICK = ("--epochs", "1", "--layers", "1", "--inner", "8", "--no-end", "--quiet")


class Device(common.Case):
    def setUp(self):
        super().setUp()
        self.write("log.csv", EVENTS)
        version = self.smurf("--version").out
        self.built = "cuda" in version
        self.gpu = self.built and "no device" not in version

    def train(self, *options):
        self.smurf("train", "log.csv", "-o", "m.safetensors", *QUICK, *options)
        return self.content("m.safetensors")

    def test_unknown(self):
        self.refuse("train", "log.csv", *QUICK, "--device", "gpu", status=2, says="device 'gpu' is not one of: cpu, cuda, auto")

    def test_version(self):
        self.assertRegex(self.smurf("--version").out, r"^smurf \d\S* \([^()]*\)\n$")

    def test_cuda_needs_a_gpu(self):
        if self.gpu:
            self.skipTest("there is a GPU")
        why = "there is no NVIDIA GPU that can be used" if self.built else "this build of smurf has no CUDA .*-Dcuda=enabled"
        self.refuse("train", "log.csv", *QUICK, "--device", "cuda", says=(why, "train with --device cpu"))

    def test_compare(self):
        self.refuse("compare", "log.csv", "--device", "gpu", status=2, says="--device takes cpu, cuda or auto, not 'gpu'")
        options = ["--models", "default", "--epochs", "1", "--format", "json", "--quiet"]
        table = self.smurf("compare", "log.csv", *options, "--runs", "a").out
        if self.gpu:
            self.skipTest("there is a GPU")
        self.assertEqual(json.loads(self.smurf("compare", "log.csv", *options, "--runs", "b", "--device", "auto").out)["rows"], json.loads(table)["rows"])

    def test_before_the_data_is_read(self):
        if self.gpu:
            self.skipTest("there is a GPU")
        self.refuse("train", "absent.csv", "--device", "cuda", says="train with --device cpu")

    def test_elsewhere_auto_is_the_processor(self):
        if self.gpu:
            self.skipTest("there is a GPU")
        model = self.train()
        self.assertEqual(self.train("--device", "cpu"), model)
        self.assertEqual(self.train("--device", "auto"), model)


if __name__ == "__main__":
    unittest.main()
