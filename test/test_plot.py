"""Pictures of the documents: one writer of SVG draws those of results and of growth."""
import math
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import growth  # noqa: E402
import plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
SERIES = ["length", "length, cut", "types, default", "types, paper", "types, thp", "types, forecast", "types, forecast of the gap", "points, default", "points, paper",
          "points, 10,000 types", "width", "batch", "threads"]


def rows():
    """Times that grow with the square of the size, memory with the size."""
    return [{"series": name, "x": x, "seconds": 1e-6 * x * x * (64 if name == "length" else 1), "memory_mb": 2.0 * x} for name in SERIES for x in (10, 100, 1000)]


class Pictures(unittest.TestCase):
    def texts(self, svg):
        return [t.text for t in ElementTree.fromstring(svg).iter(SVG + "text")]

    def test_growth_is_drawn_by_plot(self):
        svg = growth.picture(rows())
        tree = ElementTree.fromstring(svg)
        self.assertEqual(len(list(tree.iter(SVG + "g"))), 8)
        for text in ("time against length", "memory against types", "published 2.00", "slope 1.00", "wall clock", "1k", "1 ms", "1 GB"):
            self.assertIn(text, self.texts(svg))
        points = [c for c in tree.iter(SVG + "circle")]
        self.assertGreaterEqual(len(points), 14 * 3)
        for c in points:
            self.assertTrue(58 <= float(c.get("cx")) <= 250 and 30 <= float(c.get("cy")) <= 220 - 42, c.attrib)

    def test_names_keep_to_their_side(self):
        for above in (False, True):
            series = [plot.Series(name, [1, 2], [3, 4]) for name in ("a", "b", "c")]
            svg = plot.picture([plot.Panel("t", series, names_above=above)], width=300)
            places = {t.text: (float(t.get("x")), float(t.get("y"))) for t in ElementTree.fromstring(svg).iter(SVG + "text") if t.text in ("a", "b", "c")}
            top = min(float(c.get("cy")) for c in ElementTree.fromstring(svg).iter(SVG + "circle"))
            self.assertTrue(all(y < top if above else x > 210 for x, y in places.values()), places)

    def test_numbers_are_finite(self):
        svg = growth.picture(rows())
        self.assertFalse("nan" in svg or "inf" in svg)
        self.assertTrue(math.isclose(growth.slope(growth.curve(rows(), "width")), 2))


if __name__ == "__main__":
    unittest.main()
