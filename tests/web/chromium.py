# SPDX-License-Identifier: GPL-3.0-or-later
"""A headless Chromium, driven over its DevTools protocol through a pair of pipes."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import results

PATH = shutil.which("chromium") or shutil.which("chromium-headless-shell")
# Without a network at all: a page that asks for something fails, whatever its policy says.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--force-color-profile=srgb",
           "--proxy-server=127.0.0.1:9", "--remote-debugging-pipe"]
PATIENCE = 120  # seconds for anything; a loaded machine may be slow, but not endless


class Page:
    """One browser with one page. problems: what its console said and what it could not load."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-chromium-")
        ours, theirs = os.pipe(), os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (ours[0], theirs[1]), "sh", PATH, *OPTIONS,
             f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(ours[0], theirs[1]))
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.of = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb", 0)
        self.rest, self.sent, self.events, self.problems, self.session = b"", 0, [], [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self.to.close()
        self.of.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder.name, ignore_errors=True)
        self.folder._finalizer.detach()

    def read(self):
        while b"\0" not in self.rest:
            got = os.read(self.of.fileno(), 1 << 20)
            if not got:
                raise EOFError("chromium has gone")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.notice(answer)

    def notice(self, event):
        self.events.append(event.get("method"))
        p = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = p["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif event.get("method") == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{p['entry']['text']} {p['entry'].get('url', '')}")
        elif event.get("method") == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:")):
            self.problems.append(f"asked the network for {p['request']['url']}")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """light or dark, as the system would say it."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path, view=""):
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{'#' + view if view else ''}")
        self.until("document.readyState === 'complete'")

    def js(self, expression):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return done["result"].get("value")

    def until(self, expression):
        """Waits for an expression to be true."""
        end = time.monotonic() + PATIENCE
        while not self.js(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never came true: {expression}")
            time.sleep(0.02)

    def settle(self):
        """Until the page has drawn: what waits for a frame, and what an observer of sizes does in it, is done then."""
        self.js("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true))))")

    def key(self, key, text=""):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, selector):
        """With the mouse, in the middle of the first element that fits."""
        x, y = self.js(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}});"
                       " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in "mouseMoved", "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=int(kind != "mouseMoved"))
        self.settle()

    def screenshot(self, path):
        self.settle()
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def require(strobe):
    """Ends a test program as skipped if there is no browser, or strobe was built without the page."""
    if not PATH:
        print("skipped: no chromium here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="strobe-chromium-") as place:
        probe = os.path.join(place, "probe.json")
        with open(probe, "w", encoding="utf-8") as f:
            json.dump(results.paths(), f)
        done = subprocess.run([strobe, "report", "-o", os.path.join(place, "probe.html"), probe], capture_output=True, text=True, timeout=120)
    if "built without the page" in done.stderr:
        print(f"skipped: {done.stderr.strip()}")
        sys.exit(77)
