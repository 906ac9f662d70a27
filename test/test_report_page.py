"""Reports in a real browser: nothing overflows, no console errors, no blank panels, light and dark, correct in print, and
every sentence agrees with its tile and table cell.

SMURF_BUILD: the build directory, with test/make_report. Skipped without Chromium, its driver and python3-selenium, unless
CI=true. One browser serves all tests. It also counts the pixels of images.
"""
import base64
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SMURF_BUILD", os.path.join(ROOT, "build"))
MAKE_REPORT = os.path.join(BUILD, "test", "make_report")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
FIGURES = {"coverage": (2, 1), "length": (1, 1), "pit": (1, 1), "residuals": (1, 1), "ends": (1, 1), "when": (3, 1), "training": (1, 1),
           "laws": (3, 4), "confusion": (1, 1), "reliability": (1, 1)}  # columns and rows of panels
WIDTHS = 400, 1200
TIMEOUT = 120
ARGUMENTS = ("--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
             "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars").split()

MEASURE = """
  const root = document.documentElement, all = s => Array.from(document.querySelectorAll(s));
  const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; };
  const outside = all("body *").filter(e => { const b = e.getBoundingClientRect();
    return !e.closest(".scroll") && !e.closest("svg") && (b.right > innerWidth + 0.5 || b.left < -0.5); });
  return {scroll: root.scrollWidth, client: innerWidth, height: root.scrollHeight,
    outside: outside.map(e => e.outerHTML.slice(0, 80)),
    tables: all(".scroll").map(e => [e.clientWidth, e.scrollWidth, getComputedStyle(e).overflowX]),
    figures: all("figure").map(box), names: all("figure").map(e => e.id), panels: all("figure .panels > svg").map(box),
    scripts: all("script").length, images: all("img").length,
    colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor],
    text: Math.min(...all("figure .panels > svg text").map(e => e.getBoundingClientRect().height))};
"""

CLAIMS = """
  const read = e => [e.dataset.claim, e.dataset.finding, e.innerText];
  const all = s => Array.from(document.querySelectorAll(s)).map(read);
  const words = Array.from(document.querySelectorAll("td[data-claim]")).map(e => {
    const word = e.querySelector(".word"); return [e.dataset.claim, word ? word.innerText : ""]; });
  return {said: all(".verdict [data-claim]"), tiles: all(".tiles [data-claim]"), cells: all("td[data-claim]"), words};
"""

COUNT = """
  const [source, columns, rows, done] = arguments, image = new Image();
  image.onerror = () => done("broken");
  image.onload = () => {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {willReadFrequently: true});
    canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
    pen.drawImage(image, 0, 0);
    const cells = [], w = Math.floor(canvas.width / columns), h = Math.floor(canvas.height / rows), inset = 0.2;
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
      const data = pen.getImageData((column + inset) * w, (row + inset) * h, (1 - 2 * inset) * w, (1 - 2 * inset) * h).data;
      let n = 0;
      for (let i = 0; i < data.length; i += 4) n += data[i] + data[i + 1] + data[i + 2] < 3 * 222;
      cells.push(n);
    }
    done({size: [canvas.width, canvas.height], cells});
  };
  image.src = "data:image/png;base64," + source;
"""


def read(path):
    with open(path, "rb") as f:
        return f.read()


def lightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


def start_browser(folder):
    options = Options()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, "--user-data-dir=" + os.path.join(folder, "profile")):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(DRIVER, env={**os.environ, "HOME": folder}), options=options)
    browser.set_page_load_timeout(TIMEOUT)
    browser.set_script_timeout(TIMEOUT)
    return browser


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (CHROMIUM and DRIVER and webdriver) and os.environ.get("CI") != "true":
            raise unittest.SkipTest("chromium, chromium-driver or python3-selenium is not installed")
        cls.folder = tempfile.mkdtemp(prefix="smurf-page-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for case in "nice", "bad", "tiny", "many", "hostile":
            os.mkdir(os.path.join(cls.folder, case))
            subprocess.run([MAKE_REPORT, os.path.join(cls.folder, case), case], check=True, timeout=TIMEOUT)
        cls.browser = start_browser(cls.folder)
        cls.addClassCleanup(cls.browser.quit)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def show(self, path, width=1200, height=900, dark=False):
        """Opens a page, which must log no console messages."""
        media = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        self.browser.get("file://" + path)
        self.assertEqual(self.browser.get_log("browser"), [])

    def measure(self, case, width, dark=False):
        self.show(self.path(case, "report.html"), width, dark=dark)
        return self.browser.execute_script(MEASURE)

    def screenshot(self, path, width, height):
        self.show(path, width, height)
        return self.browser.get_screenshot_as_base64()

    def count(self, picture, columns, rows):
        """Dark pixels well inside each cell of a picture, PNG in base 64."""
        found = self.browser.execute_async_script(COUNT, picture, columns, rows)
        self.assertNotEqual(found, "broken")
        return found

    def test_nothing_overflows(self):
        for case in "nice", "bad", "tiny", "many", "hostile":
            for width in WIDTHS:
                with self.subTest(case=case, width=width):
                    found = self.measure(case, width)
                    self.assertEqual(found["client"], width)
                    self.assertLessEqual(found["scroll"], width)
                    self.assertEqual(found["outside"], [])
                    self.assertEqual((found["scripts"], found["images"]), (0, 0))
                    for inner, whole, overflow in found["tables"]:
                        self.assertLessEqual(inner, width)
                        self.assertTrue(whole <= inner or overflow == "auto")
                    for left, _, panel, height in found["panels"]:
                        self.assertGreaterEqual(left, 0)
                        self.assertLessEqual(left + panel, width)
                        self.assertGreater(height, 150)
                    self.assertGreater(found["text"], 7)

    def test_columns(self):
        for case, width, columns in ("nice", 400, 1), ("tiny", 400, 1), ("nice", 1200, 2), ("hostile", 1200, 2):
            found = self.measure(case, width)
            self.assertEqual(len({round(left) for left, _, _, _ in found["figures"]}), columns, (case, width))
        self.assertGreater(self.measure("nice", 400)["tables"][0][1], 400)  # the table scrolls inside

    def test_figures_are_present(self):
        self.assertEqual(self.measure("nice", 1200)["names"], list(FIGURES))
        self.assertEqual(self.measure("tiny", 1200)["names"], [name for name in FIGURES if name not in
                                                                ("when", "confusion", "reliability")])

    def test_light_and_dark(self):
        for dark in False, True:
            ink, paper = map(lightness, self.measure("nice", 1200, dark)["colours"])
            self.assertEqual(ink > paper, dark)
            self.assertGreater(abs(ink - paper), 150)

    def test_sentences_tiles_and_table_agree(self):
        for case in "nice", "bad", "tiny", "hostile":
            self.show(self.path(case, "report.html"))
            found = self.browser.execute_script(CLAIMS)
            cells = {claim: (finding, text.split()[0]) for claim, finding, text in found["cells"]}
            words = dict(found["words"])
            self.assertEqual(len(cells), len(found["cells"]))
            for claim, finding, text in found["tiles"]:
                self.assertEqual(cells[claim], (finding, text.split()[0].strip("+%")), (case, claim))
                self.assertIn(words[claim], text)
            for claim, finding, text in found["said"]:
                self.assertEqual(cells[claim][0], finding, (case, claim))
                self.assertIn(words[claim], text)
            lost = {claim for claim, (finding, _) in cells.items() if finding == "worse"}
            self.assertLessEqual(lost, {claim for claim, _, _ in found["said"]} & {claim for claim, _, _ in found["tiles"]})
            self.assertEqual(lost, {"inside", "levels", "crps", "likelihood", "types"} if case == "bad" else set())

    def test_screenshots(self):
        for width, height in (1200, 4400), (400, 4000):
            picture = self.screenshot(self.path("nice", "report.html"), width, height)
            size = struct.unpack(">II", base64.b64decode(picture)[16:24])
            self.assertEqual(size, (width, height))
            self.assertTrue(all(n > 300 for n in self.count(picture, 1, 10)["cells"]), width)

    def test_no_panel_is_blank(self):
        names = {name[:-4] for name in os.listdir(self.path("nice", "figures")) if name.endswith(".png")}
        if not names:
            self.skipTest("this build has no cairo")
        self.assertEqual(names, set(FIGURES))
        self.show(self.path("nice", "report.html"))
        for name in names:
            picture = base64.b64encode(read(self.path("nice", "figures", name + ".png"))).decode()
            found = self.count(picture, *FIGURES[name])
            self.assertGreater(min(found["size"]), 600, name)
            self.assertEqual(len(found["cells"]), FIGURES[name][0] * FIGURES[name][1])
            self.assertGreater(min(found["cells"]), 400, (name, found))

    def test_svg_files_stand_alone(self):
        for case in "nice", "hostile":
            for name in FIGURES:
                path = self.path(case, "figures", name + ".svg")
                self.assertEqual(xml.etree.ElementTree.parse(path).getroot().tag, "{http://www.w3.org/2000/svg}svg")
                self.assertNotIn(b"var(", read(path))
        for name in "laws", "confusion":
            picture = self.screenshot(self.path("hostile", "figures", name + ".svg"), 1050, 600)
            self.show(self.path("nice", "report.html"))
            self.assertGreater(self.count(picture, 1, 1)["cells"][0], 400, name)

    def test_prints(self):
        for case, least, most in ("nice", 3, 7), ("tiny", 2, 5):
            self.show(self.path(case, "report.html"))
            paper = self.browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
            content = base64.b64decode(paper["data"])
            self.assertTrue(content.startswith(b"%PDF"))
            pages = len(re.findall(rb"/Type\s*/Page\b", content))
            self.assertTrue(least <= pages <= most, (case, pages))


if __name__ == "__main__":
    unittest.main()
