"""The page of smurf serve in a real browser: nothing overflows, no console messages, what comes in is shown at once and as text, and
the keyboard reaches everything.

Skipped without Chromium, its driver and python3-selenium, unless CI=true. With SMURF_SCREENSHOTS=FOLDER, it leaves pictures there.
"""
import base64
import datetime
import os
import random
import shlex
import sys
import time
import unittest

import common
import models
from models import ModelCase
from test_serve import HAS_SERVE, Server

sys.path.insert(0, os.path.join(common.ROOT, "test"))
import test_report_page as browsing  # noqa: E402

WIDTHS = 360, 800, 1400
SCRIPT = "<script>document.title = 'broken'</script>"
HOSTILE = [SCRIPT, "<img src=x onerror=\"document.title='broken'\">", "W" * 400, "\u202e\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627 reversed", "a/b?c#d %2F&amp;", "'\"`", " spaces  "]

MEASURE = """
  const all = s => Array.from(document.querySelectorAll(s));
  const clips = e => e && e !== document.body && (getComputedStyle(e).overflowX !== "visible" || clips(e.parentElement));
  const outside = all("body *").filter(e => { const b = e.getBoundingClientRect();
    return b.width && b.height && !e.closest("svg, .hidden, .skip") && (b.right > innerWidth + 0.5 || b.left < -0.5) && !clips(e.parentElement); });
  const cut = all(".when, .value, h1, h2, h3, .badge, .legend, .axis span, .ticks span").filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline");
  return {scroll: document.documentElement.scrollWidth, outside: outside.map(e => e.outerHTML.slice(0, 120)), cut: cut.map(e => e.outerHTML.slice(0, 120)),
    colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]};
"""


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def machines(now, days, seed=1, count=14):
    """Machines that start, stop and jam, until now; one stopped some time ago."""
    draw, events = random.Random(seed), []
    for k in range(count):
        name = "%s-%02d" % (("press", "pump", "mill")[k % 3], k + 1)
        end = now - datetime.timedelta(hours=70 if k == 4 else 0)
        at, state = now - datetime.timedelta(days=days, hours=draw.uniform(0, 5)), "start"
        while at < end:
            events.append({"sequence": name, "time": stamp(at), "type": state})
            state = {"start": draw.choices(["stop", "jam"], [3, 1])[0], "jam": "start", "stop": draw.choices(["start", "service"], [5, 1])[0], "service": "start"}[state]
            at += datetime.timedelta(hours={"stop": 4, "jam": 5, "start": 0.4, "service": 2}[state] * draw.gammavariate(3, 0.33) * (1 + k % 4))
    return sorted(events, key=lambda e: e["time"])


def table(events):
    return "machine,time,event\n" + "".join("%s,%s,%s\n" % (e["sequence"], e["time"], e["type"]) for e in events)


@unittest.skipUnless(HAS_SERVE, "this build has no service (libmicrohttpd is missing)")
class Page(ModelCase):
    @classmethod
    def setUpClass(cls):
        if not (browsing.CHROMIUM and browsing.DRIVER and browsing.webdriver) and os.environ.get("CI") != "true":
            raise unittest.SkipTest("chromium, chromium-driver or python3-selenium is not installed")
        super().setUpClass()
        cls.browser = browsing.start_browser(cls.made)
        cls.addClassCleanup(cls.browser.quit)

    @classmethod
    def make(cls):
        cls.now = datetime.datetime.now(datetime.timezone.utc)
        cls.put("machines.csv", table(machines(cls.now - datetime.timedelta(days=40), 30, 2)))
        long = os.environ.get("SMURF_SCREENSHOTS") is not None
        cls.do("train", "machines.csv", "-o", "m.safetensors", "--quiet", "--threads", "1", *([] if long else ["--epochs", "4", *models.SMALL]))
        cls.put("odd.csv", models.calendar(12, 10).replace("login", "<b>in</b>").replace("logout", "\u202eout"))
        cls.train("odd.csv", "odd.safetensors")
        cls.put("numbers.csv", models.table(12))
        cls.train("numbers.csv", "numbers.safetensors")

    def setUp(self):
        super().setUp()
        self.allowed = ()
        self.browser.get_log("browser")

    def server(self, *args, model="m.safetensors", events=None):
        server = Server(self.folder, self.at(model), "--threads", "1", *args)
        if events:
            self.assertEqual(server.post(events)[0], 200)

        def end():
            self.browser.get("about:blank")
            if server.process.poll() is None:
                server.kill()
            server.process.stdout.close()
        self.addCleanup(end)
        return server

    def full(self):
        server = self.server("--alarms-per-day", "2", events=machines(datetime.datetime.now(datetime.timezone.utc), 20))
        while server.get("/v1/alarms")[1]["behind"]:
            time.sleep(0.05)
        return server

    # ---- the browser ----

    def show(self, server, width=1200, height=1000, dark=False):
        self.resize(width, height)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.browser.get("http://127.0.0.1:%d/" % server.port)

    def resize(self, width, height=1000):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def run_script(self, script, *args):
        return self.browser.execute_script(script, *args)

    def until(self, script, *args):
        """Waits until a script returns something true."""
        end = time.monotonic() + common.TIMEOUT
        while not (found := self.run_script("return (%s);" % script, *args)):
            self.assertLess(time.monotonic(), end, (script, self.run_script("return document.body.innerText")))
            time.sleep(0.05)
        return found

    def names(self):
        return self.run_script("return Array.from(document.querySelectorAll('.rows .name')).map(e => e.textContent)")

    def ready(self, rows):
        self.until("document.querySelectorAll('.rows .row').length === arguments[0] && document.getElementById('live').dataset.state === 'live'", rows)

    def press(self, *keys):
        from selenium.webdriver.common.keys import Keys
        from selenium.webdriver.common.action_chains import ActionChains
        chain = ActionChains(self.browser)
        for key in keys:
            chain.send_keys(getattr(Keys, key, key))
        chain.perform()

    def quiet(self):
        """No messages in the console, which has violations of the CSP as well."""
        said = [line["message"] for line in self.browser.get_log("browser")]
        self.assertEqual([line for line in said if not any(word in line for word in self.allowed)], [])

    def picture(self, name, height=None):
        folder = os.environ.get("SMURF_SCREENSHOTS")
        if folder:
            size = self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
            found = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": height is None, "clip": {
                "x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}})
            with open(os.path.join(folder, name + ".png"), "wb") as file:
                file.write(base64.b64decode(found["data"]))

    def fits(self, width):
        found = self.run_script(MEASURE)
        self.assertLessEqual(found["scroll"], width)
        self.assertEqual((found["outside"], found["cut"]), ([], []), width)
        return found

    # ---- tests ----

    def test_every_width(self):
        server = self.full()
        self.show(server, 1400)
        self.ready(14)
        for dark in False, True:
            for width in WIDTHS:
                self.show(server, width, dark=dark)
                self.ready(14)
                self.until("document.querySelectorAll('#held-pit svg').length")
                front, back = map(browsing.lightness, self.fits(width)["colours"])
                self.assertEqual(front > 128 > back, dark)
                self.picture("all-%d%s" % (width, "-dark" if dark else ""))
                self.run_script("document.querySelectorAll('.rows .row')[8].click()")
                self.until("document.querySelectorAll('#one-density rect').length > 50 && document.querySelectorAll('#one-events tr').length")
                self.fits(width)
                self.assertEqual(self.run_script("return document.getElementById('one').matches(':modal')"), width < 1000)
                self.picture("one-%d%s" % (width, "-dark" if dark else ""), 1000 if width < 1000 else None)
        self.quiet()

    def test_what_it_says(self):
        """The list, the tiles and the panel say what the service answers."""
        server = self.full()
        self.show(server)
        self.ready(14)
        answer = server.get("/v1/next?limit=100")[1]
        late = [a["forecast"]["sequence"] for a in answer["next"] if a["overdue"]]
        self.assertIn("pump-05", late)
        self.assertEqual(self.names()[0], late[0])
        self.assertEqual(sorted(self.names()), sorted(a["forecast"]["sequence"] for a in answer["next"]))
        self.assertEqual(int(self.until("document.getElementById('tile-overdue').textContent")), len(late))
        self.assertEqual(self.until("document.getElementById('tile-sequences').textContent"), "14")
        held = server.get("/v1/held")[1]
        self.until("document.getElementById('tile-held').textContent === arguments[0]", "%d%%" % round(100 * held["levels"][1]["share"]))
        alarms = server.get("/v1/alarms")[1]["alarms"]
        self.assertTrue(alarms)
        self.until("document.getElementById('tile-alarms').textContent === arguments[0]", str(len(alarms)))
        self.assertIn(alarms[-1]["evidence"], self.run_script("return document.getElementById('alarms').innerText"))
        self.quiet()

    def test_what_remains(self):
        """What the page makes of a law as time passes is what the service answers when it is asked then."""
        server = self.server(events=machines(self.now, 10))
        self.show(server)
        law = server.get("/v1/forecast/press-01?curve=200")[1]
        start = datetime.datetime.fromisoformat(law["last"].replace("Z", "+00:00"))
        for hours in 0.001, 0.1, 1, 2, 4:
            then = stamp(start + datetime.timedelta(hours=hours))
            said = server.get("/v1/forecast/press-01?now=" + then)[1]
            found = self.browser.execute_async_script("""const [law, then, done] = arguments;
              Promise.all([import("/page/law.js"), import("/page/words.js")]).then(([laws, words]) => {
                done(laws.lookAt(laws.makeLaw(law), words.readMoment(then))); });""", law, then)
            half, most = said["intervals"]
            ends = [(found["low50"], half["low"]), (found["median"], said["median"]), (found["high50"], half["high"])]
            if not 0.02 < said["never"] < 0.05:  # else the end lies beyond the curve, just before "never", and is a guess
                ends.append((found["high90"], most["high"]))
            for mine, theirs in ends:
                if mine is not None and theirs is not None:  # else never
                    self.assertLess(abs(mine - theirs), 0.1 * theirs + 60, (hours, found, said))
                else:
                    self.assertIsNone(theirs, (hours, found, said))
        # The chart ends where most has come that comes at all, which the median is before.
        law.update(curve=[100 * k if k < 26 else None for k in range(1, 40)], never=0.34)
        found = self.browser.execute_async_script("""const [law, done] = arguments;
          import("/page/law.js").then(laws => { const made = laws.makeLaw(law); done(laws.lookAt(made, made.from)); });""", law)
        self.assertAlmostEqual(found["median"], 2000)
        self.assertTrue(2500 <= found["late"] < 10000, found)
        self.assertIsNone(found["high90"])
        self.quiet()

    def test_live(self):
        server = self.server(events=machines(self.now, 5))
        self.show(server)
        self.ready(14)
        now = datetime.datetime.now(datetime.timezone.utc)
        server.post({"sequence": "new one", "time": stamp(now), "type": "start"})
        self.ready(15)
        row = "[...document.querySelectorAll('.rows .row')].find(e => e.querySelector('.name').textContent === 'new one')"
        self.until(row + ".innerText.includes('start')")
        self.run_script("%s.click()" % row)
        self.until("document.querySelectorAll('#one-events tr').length === 1")
        server.post({"sequence": "new one", "time": stamp(now + datetime.timedelta(seconds=1)), "type": "service"})
        self.until("document.querySelectorAll('#one-events tr').length === 2 && document.getElementById('announce').textContent.includes('new one: service')")
        self.until(row + ".innerText.includes('service')")
        self.assertEqual(self.run_script("return document.getElementById('one-title').textContent"), "new one")
        self.quiet()

    def test_it_comes_back(self):
        self.allowed = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
        server = self.server("--store", "s.db", events=machines(self.now, 5))
        self.show(server)
        self.ready(14)
        server.kill()
        self.until("document.getElementById('live').dataset.state === 'lost'")
        again = Server(self.folder, self.at("m.safetensors"), "--threads", "1", "--store", "s.db", port=server.port)
        self.addCleanup(again.process.stdout.close)
        self.addCleanup(again.kill)
        again.post({"sequence": "meanwhile", "time": stamp(self.now), "type": "start"})
        self.ready(15)
        self.quiet()

    def test_hostile_names(self):
        events = [{"sequence": name, "time": stamp(self.now - datetime.timedelta(hours=k)), "type": t} for name in HOSTILE for k, t in ((2, "<b>in</b>"), (1, "\u202eout"))]
        server = self.server("--alarms-per-day", "1", model="odd.safetensors", events=events)
        for width in 360, 1200:
            self.show(server, width)
            self.ready(len(HOSTILE))
            self.assertEqual(sorted(self.names()), sorted(HOSTILE))
            self.fits(width)
            for k in range(len(HOSTILE)):
                name = self.run_script("const e = document.querySelectorAll('.rows .row')[arguments[0]]; e.click(); return e.querySelector('.name').textContent", k)
                self.until("document.getElementById('one-title').textContent === arguments[0] && document.querySelectorAll('#one-events tr').length >= 2", name)
                self.fits(width)
            self.picture("hostile-%d" % width, 1000)
            server.post({"sequence": SCRIPT, "time": stamp(datetime.datetime.now(datetime.timezone.utc)), "type": "<b>in</b>"})
            self.until("document.getElementById('about').textContent.includes(arguments[0])", SCRIPT)
            self.assertEqual(self.run_script("return [document.title, document.querySelectorAll('main script, main img, .chip b').length]"), ["smurf: what comes next", 0])
            self.run_script("document.getElementById('one-close').click()")
        self.quiet()

    def test_a_file(self):
        server = self.server()
        path = self.write("log <b>.csv", table(machines(self.now, 5, 3, 6)))
        self.show(server)
        self.until("!document.getElementById('empty').hidden")
        self.browser.find_element("id", "file-input").send_keys(path)
        self.until("document.querySelectorAll('#file-answer tbody tr').length === 6")
        said = self.run_script("return document.getElementById('file-answer').innerText")
        for word in "LOG <B>.CSV", "6 sequences", "machine", "start", "press-01":
            self.assertIn(word, said.upper() if word.isupper() else said)
        for width in WIDTHS:
            self.resize(width)
            self.fits(width)
            self.picture("file-%d" % width)
        drop = """const data = new DataTransfer(); data.items.add(new File([arguments[0]], arguments[1]));
          for (const type of ["dragover", "drop"]) document.getElementById("drop").dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));"""
        self.run_script(drop, table(machines(self.now, 2, 3, 3)), "second.csv")
        self.until("document.querySelectorAll('#file-answer tbody tr').length === 3")
        self.quiet()
        self.allowed = ("status of 400",)
        self.run_script(drop, "machine,time,event\nx,never,y\n", "bad.csv")
        self.until("document.querySelector('#file-answer [role=alert]')?.textContent.includes('bad.csv')")
        self.assertEqual(server.get("/v1/sequences")[1]["total"], 0)
        self.quiet()

    def test_an_empty_store(self):
        for model in "m.safetensors", "numbers.safetensors":
            server = self.server(model=model)
            self.show(server, 1200)
            line = self.until("document.getElementById('curl').textContent")
            self.assertFalse(self.run_script("return document.querySelector('.rows').checkVisibility()"))
            for width in WIDTHS:
                self.resize(width)
                self.fits(width)
            self.picture("empty-" + model[0], 800)
            words = shlex.split(line)
            self.assertEqual((words[0], words[1], words[2]), ("curl", "http://127.0.0.1:%d/v1/events" % server.port, "-d"))
            self.assertEqual(server.post(words[3])[0], 200)
            self.ready(1)
            self.assertEqual(self.names(), ["first"])
            self.until("document.getElementById('empty').hidden && document.querySelector('.rows').checkVisibility()")
        self.quiet()

    def test_numbers(self):
        server = self.server(model="numbers.safetensors")
        server.post([{"sequence": "s%d" % k, "time": t + k / 10, "type": "a"} for k in range(3) for t in range(5)])
        self.show(server, 800)
        self.ready(3)
        self.fits(800)
        self.run_script("document.querySelector('.rows .row').click()")
        self.until("document.querySelectorAll('#one-events tr').length === 5")
        server.post({"sequence": "s1", "time": 6, "type": "a"})
        self.until("document.getElementById('about').textContent.includes('s1')")
        self.quiet()

    def test_the_keyboard(self):
        server = self.full()
        for width in 1200, 360:
            self.show(server, width)
            self.ready(14)
            self.until("document.querySelectorAll('#alarms li').length")
            reached, unnamed = [], []
            for _ in range(60):
                self.press("TAB")
                found = self.run_script("""const e = document.activeElement, b = e.getBoundingClientRect();
                  return [e === document.body ? "" : e.id || e.className, (e.innerText || e.ariaLabel || e.labels?.[0]?.innerText || "").trim(), b.width, getComputedStyle(e).outlineStyle];""")
                if not found[0]:
                    break
                reached.append(found[0])
                if not found[1]:
                    unnamed.append(found)
            self.assertEqual(unnamed, [])
            for name in "skip", "find-text", "file-input", "link":
                self.assertIn(name, reached)
            self.assertEqual(reached.count("row"), 14)
            self.run_script("document.querySelectorAll('.rows .row')[2].focus()")
            name = self.run_script("return document.activeElement.querySelector('.name').textContent")
            self.press("ENTER")
            self.until("document.getElementById('one').open && document.activeElement.id === 'one-title' && document.querySelectorAll('#one-events tr').length")
            self.assertEqual(self.run_script("return document.getElementById('one-title').textContent"), name)
            self.press("TAB")
            self.assertEqual(self.run_script("return document.activeElement.id"), "one-close")
            self.press("ESCAPE")
            self.until("!document.getElementById('one').open")
            self.assertEqual(self.run_script("return document.activeElement.querySelector('.name')?.textContent"), name)
            self.run_script("document.getElementById('find-text').focus()")
            self.press(*"pump-0")
            self.until("document.querySelectorAll('.rows .row').length < 14 && [...document.querySelectorAll('.rows .name')].every(e => e.textContent.startsWith('pump-0'))")
            self.press(*"8", "ENTER")
            self.until("document.getElementById('one').open && document.getElementById('one-title').textContent === 'pump-08'")
        marks = self.run_script("""return [...document.querySelectorAll("header, main, footer, section, dialog")].filter(e => e.tagName === "SECTION" || e.tagName === "DIALOG")
          .map(e => document.getElementById(e.getAttribute("aria-labelledby"))?.textContent.length > 0)""")
        self.assertEqual(set(marks), {True})
        self.quiet()

    def test_a_token(self):
        self.allowed = ("status of 401",)
        token = "4b1c0ffee-token-of-32-characters"
        server = self.server("--token-file", self.write("token", token))
        self.assertEqual(server.post(machines(self.now, 5), headers={"Authorization": "Bearer " + token})[0], 200)
        self.show(server)
        for given in "wrong", token:
            self.until("document.getElementById('ask').open && document.activeElement.id === 'token'")
            self.fits(1200)
            self.picture("token", 700)
            self.press(*given, "ENTER")
        self.ready(14)
        self.assertEqual(self.run_script("return [sessionStorage.length, localStorage.length, document.cookie]"), [1, 0, ""])
        self.browser.refresh()
        self.ready(14)
        self.run_script("document.querySelector('.rows .row').click()")
        self.until("document.querySelectorAll('#one-events tr').length")
        self.assertFalse(self.run_script("return document.getElementById('ask').open"))
        self.run_script("sessionStorage.clear()")
        self.quiet()


if __name__ == "__main__":
    unittest.main()
