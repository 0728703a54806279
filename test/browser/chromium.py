"""A real browser without a window: Chromium, spoken to over a pipe in its debugging protocol. Standard library only."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium():
    """The program, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    pass


class Browser:
    """with Browser(program) as browser: browser.open(url, 400, 800, dark=True)"""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="gc-browser-")
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def at_3_and_4():  # where Chromium reads commands and writes answers
            read, write = os.dup(to_read), os.dup(from_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=at_3_and_4)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)  # Chromium ends when nobody speaks to it
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise BrowserError("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width, height, dark=False, touch=False):
        """Waits until the page is loaded; its errors and requests are those from here on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            if time.monotonic() > end:
                raise BrowserError(f"{url} did not load within a minute")
            self.events.append(self.receive())

    def errors(self):
        """What scripts threw, what was logged as an error."""
        self.evaluate("0")  # whatever comes before its answer is here then
        texts = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                texts.append(details.get("exception", {}).get("description") or details["text"])
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "assert"):
                texts.append(str(event["params"]["args"]))
        return texts

    def requests(self):
        """Addresses that the page has asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("Moved", "Pressed", "Released"):
            self.mouse(kind, x, y, **({} if kind == "Moved" else {"button": "left", "clickCount": 1}))

    def drag(self, x, y, by_x, by_y):
        self.mouse("Moved", x, y)
        self.mouse("Pressed", x, y, button="left", clickCount=1)
        for part in (0.25, 0.5, 0.75, 1):
            self.mouse("Moved", x + part * by_x, y + part * by_y, button="left", buttons=1)
        self.mouse("Released", x + by_x, y + by_y, button="left", clickCount=1)

    def wheel(self, x, y, by):
        self.mouse("Wheel", x, y, deltaX=0, deltaY=by)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type="touch" + kind,
                  touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, path, clip=None):
        """All of the page, however long."""
        more = {"clip": dict(clip, scale=1)} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, **more)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def page_clip(self):
        return {"x": 0, "y": 0, "width": self.evaluate("document.documentElement.clientWidth"),
                "height": self.evaluate("document.documentElement.scrollHeight")}
