"""Many types, rare types, types that a model does not know."""

import json
import unittest

from common import Case


class Types(Case):
    def rows(self, types, each, rare):
        """A log of `types` types with `each` events and `rare` types with one."""
        names = ["t%d" % k for k in range(types)] * each + ["r%d" % k for k in range(rare)]
        return "time,type\n" + "".join("%d.%d,%s\n" % (i, i * 7 % 10, name) for i, name in enumerate(names))

    def test_rare_types(self):
        self.write("many.csv", self.rows(1100, 5, 30))
        says = "30 of 1130 types have fewer than 5 events: their 30 events are of the type 'other' (--rare 0 keeps them)"
        info = json.loads(self.smurf("info", "many.csv", "--json").out)[0]
        self.assertEqual(info["types"], 1101)
        self.assertIn(says, info["warnings"])
        for option, types in ("0", 1130), ("1", 1130), ("6", 1), ("2", 1101):
            self.assertEqual(json.loads(self.smurf("info", "many.csv", "--json", "--rare", option).out)[0]["types"], types)
        self.refuse("info", "many.csv", "--rare", "few", says="--rare takes a number of events, not 'few'", status=2)
        self.smurf("convert", "many.csv", "all.csv")
        self.assertIn(",r29\n", self.content("all.csv").decode())
        self.smurf("convert", "many.csv", "merged.csv", "--rare", "5", "--quiet")
        self.assertNotIn(",r29\n", self.content("merged.csv").decode())
        self.write("few.csv", self.rows(900, 5, 100))
        self.assertEqual(json.loads(self.smurf("info", "few.csv", "--json").out)[0]["types"], 1000)

    def test_a_model_with_other(self):
        """eval finds the file it was trained on, and new types are 'other'."""
        self.write("many.csv", self.rows(1100, 5, 30))
        self.smurf("train", "many.csv", "-o", "m.safetensors", "--epochs", "1", "--width", "4", "--quiet")
        out = self.run_smurf("eval", "m.safetensors", "many.csv", "--json")
        self.assertEqual(out.status, 0, out.err)
        self.assertIn("the model was trained on this file", out.err)
        self.write("new.csv", "time,type\n1,t1\n2,new\n3,t2\n")
        out = self.run_smurf("predict", "m.safetensors", "new.csv", "--format", "jsonl")
        self.assertEqual(out.status, 0, out.err)
        self.assertIn("1 event is of a type that the model does not know, 'new': it counts as 'other'", out.err)


if __name__ == "__main__":
    unittest.main()
