"""Reports rendered by a browser: no blank panels, no horizontal scrolling, no errors, and correct in print.

SMURF_BUILD: the build directory, with test/make_report. Skipped without Chromium, unless CI=true. Chromium also
counts the pixels: a test page loads the images and writes the counts into its own text.
"""
import base64
import html
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SMURF_BUILD", os.path.join(ROOT, "build"))
MAKE_REPORT = os.path.join(BUILD, "test", "make_report")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FIGURES = {"coverage": (2, 1), "length": (1, 1), "pit": (1, 1), "residuals": (1, 1), "training": (1, 1),
           "laws": (3, 4), "confusion": (1, 1), "reliability": (1, 1)}  # columns and rows of panels
TIMEOUT = 120

MEASURE = """<!DOCTYPE html><meta charset="utf-8"><title>measure</title>
<body style="margin:0"><iframe style="border:0;width:{width}px;height:{height}px" srcdoc="{page}"></iframe>
<pre id="result"></pre><script>
onload = () => {{
  const inner = document.querySelector("iframe").contentDocument, root = inner.documentElement;
  const box = e => {{ const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }};
  const all = s => Array.from(inner.querySelectorAll(s));
  document.querySelector("#result").textContent = JSON.stringify({{
    scroll: root.scrollWidth, client: root.clientWidth, height: root.scrollHeight,
    figures: all("figure").map(box), panels: all("figure .panels > svg").map(box),
    scripts: all("script").length, images: all("img").length,
    text: Math.min(...all("figure .panels > svg text").map(e => e.getBoundingClientRect().height))}});
}};
</script>"""

COUNT = """<!DOCTYPE html><meta charset="utf-8"><title>count</title><pre id="result"></pre>{images}<script>
onload = () => {{
  const found = {{}};
  for (const image of document.images) {{
    const [columns, rows] = image.alt.split(" ").slice(1).map(Number);
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {{willReadFrequently: true}});
    canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
    pen.drawImage(image, 0, 0);
    const cells = [], w = Math.floor(canvas.width / columns), h = Math.floor(canvas.height / rows);
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {{
      const inset = 0.2, data = pen.getImageData((column + inset) * w, (row + inset) * h, (1 - 2 * inset) * w,
                                                 (1 - 2 * inset) * h).data;
      let n = 0;
      for (let i = 0; i < data.length; i += 4) n += data[i] + data[i + 1] + data[i + 2] < 3 * 222;
      cells.push(n);
    }}
    found[image.alt.split(" ")[0]] = {{size: [canvas.width, canvas.height], cells}};
  }}
  document.querySelector("#result").textContent = JSON.stringify(found);
}};
</script>"""


def read(path):
    with open(path, "rb") as f:
        return f.read()


def png_size(path):
    content = read(path)
    assert content[:8] == b"\x89PNG\r\n\x1a\n", path
    return struct.unpack(">II", content[16:24])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not CHROMIUM and os.environ.get("CI") != "true":
            raise unittest.SkipTest("chromium is not installed")
        cls.folder = tempfile.mkdtemp(prefix="smurf-page-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for case in "nice", "tiny", "many", "hostile":
            os.mkdir(os.path.join(cls.folder, case))
            subprocess.run([MAKE_REPORT, os.path.join(cls.folder, case), case], check=True, timeout=TIMEOUT)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def chromium(self, page, *options):
        """Opens a page and returns standard output. The page must log no console messages."""
        self.assertTrue(CHROMIUM, "chromium is not installed")
        with tempfile.TemporaryDirectory(prefix="smurf-chromium-", ignore_cleanup_errors=True) as profile:
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                 "--user-data-dir=" + profile, "--enable-logging=stderr", "--v=0", *options, "file://" + page],
                capture_output=True, text=True, timeout=TIMEOUT, env={**os.environ, "HOME": profile})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        return done.stdout

    def ask(self, name, text):
        """Opens a test page that writes JSON into its #result."""
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        dom = self.chromium(self.path(name), "--dump-dom", "--virtual-time-budget=5000", "--window-size=1400,900")
        return json.loads(html.unescape(re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL).group(1)))

    def measure(self, case, width):
        page = html.escape(read(self.path(case, "report.html")).decode())
        return self.ask(f"measure-{case}-{width}.html", MEASURE.format(width=width, height=900, page=page))

    def count(self, pictures):
        """{name: {size, cells}} of {name: (path, columns, rows)}: dark pixels well inside each cell."""
        images = "".join(f'<img alt="{name} {columns} {rows}" src="data:image/png;base64,'
                         f'{base64.b64encode(read(path)).decode()}">' for name, (path, columns, rows) in pictures.items())
        return self.ask("count.html", COUNT.format(images=images))

    def test_two_columns_on_a_wide_screen(self):
        for case in "nice", "hostile":
            found = self.measure(case, 1280)
            self.assertLessEqual(found["scroll"], found["client"])
            self.assertEqual(len(found["figures"]), 8)
            self.assertEqual(len({round(left) for left, _, _, _ in found["figures"]}), 2)
            self.assertEqual((found["scripts"], found["images"]), (0, 0))

    def test_one_column_on_a_phone(self):
        for case in "nice", "hostile", "tiny", "many":
            with self.subTest(case):
                found = self.measure(case, 400)
                self.assertEqual(found["client"], 400)
                self.assertLessEqual(found["scroll"], 400)
                self.assertEqual(len({round(left) for left, _, _, _ in found["figures"]}), 1)
                for left, _, width, height in found["panels"]:
                    self.assertGreaterEqual(left, 0)
                    self.assertLessEqual(left + width, 400)
                    self.assertGreater(height, 150)
                self.assertGreater(found["text"], 7)

    def test_screenshots(self):
        pictures = {}
        for name, case, width, height in ("wide", "nice", 1280, 4400), ("narrow", "nice", 500, 4000):
            shot = self.path(name + ".png")
            self.chromium(self.path(case, "report.html"), "--screenshot=" + shot, f"--window-size={width},{height}")
            self.assertEqual(png_size(shot), (width, height))
            pictures[name] = (shot, 1, 10)
        for name, found in self.count(pictures).items():
            self.assertTrue(all(n > 300 for n in found["cells"]), (name, found))

    def test_no_panel_is_blank(self):
        names = {name[:-4] for name in os.listdir(self.path("nice", "figures")) if name.endswith(".png")}
        if not names:
            self.skipTest("this build has no cairo")
        self.assertEqual(names, set(FIGURES))
        found = self.count({name: (self.path("nice", "figures", name + ".png"), *FIGURES[name]) for name in names})
        for name, picture in found.items():
            self.assertGreater(min(picture["size"]), 600, name)
            self.assertEqual(len(picture["cells"]), FIGURES[name][0] * FIGURES[name][1])
            self.assertGreater(min(picture["cells"]), 400, (name, picture))

    def test_svg_files_stand_alone(self):
        pictures = {}
        for case in "nice", "hostile":
            for name in FIGURES:
                path = self.path(case, "figures", name + ".svg")
                tree = xml.etree.ElementTree.parse(path).getroot()
                self.assertEqual(tree.tag, "{http://www.w3.org/2000/svg}svg")
                self.assertNotIn(b"var(", read(path))
        for name in "laws", "confusion":
            shot = self.path(name + "-svg.png")
            self.chromium(self.path("hostile", "figures", name + ".svg"), "--screenshot=" + shot, "--window-size=1050,600")
            pictures[name] = (shot, 1, 1)
        for name, found in self.count(pictures).items():
            self.assertGreater(found["cells"][0], 400, name)

    def test_prints(self):
        for case, least, most in ("nice", 3, 6), ("tiny", 2, 5):
            paper = self.path(case + ".pdf")
            self.chromium(self.path(case, "report.html"), "--print-to-pdf=" + paper, "--no-pdf-header-footer")
            content = read(paper)
            self.assertTrue(content.startswith(b"%PDF"))
            pages = len(re.findall(rb"/Type\s*/Page\b", content))
            self.assertTrue(least <= pages <= most, (case, pages))


if __name__ == "__main__":
    unittest.main()
