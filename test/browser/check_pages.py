"""check_pages.py BIN | --self-check: the pages of gc-compile and gc-run, opened and used in a real browser.

Skipped (exit code 77) with a word where there is no Chromium.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from chromium import Browser, find_chromium

SKIPPED = 77
# A page is to open within a second; machines that run tests have other work, too.
MOST_MILLISECONDS = 3000
MOST_PER_FRAME = 100
HOSTILE = "</script><img src=x onerror=alert(1)><!--'\\22 é"
SIZES = ((1300, 900), (400, 800))


class Complaints:
    def __init__(self):
        self.texts, self.checks = [], 0

    def expect(self, holds, text):
        self.checks += 1
        if not holds:
            self.texts.append(text)


def url_of(path):
    return "file://" + os.path.abspath(path)


def look_at(browser, path, width, height, dark, complain):
    """What holds for every page: no error, nothing fetched, nothing wider than the window, all drawn in time."""
    where = f"{os.path.basename(path)} at {width}{' dark' if dark else ''}"
    browser.open(url_of(path), width, height, dark=dark, touch=width < 600)
    for error in browser.errors():
        complain.expect(False, f"{where}: {error}")
    marks = browser.evaluate("({...document.documentElement.dataset})")
    complain.expect("error" not in marks, f"{where}: noted an error: {marks.get('error')}")
    fetched = [url for url in browser.requests() if url != url_of(path)]
    complain.expect(not fetched, f"{where}: asked for {fetched}")
    wide = browser.evaluate("document.documentElement.scrollWidth")
    complain.expect(wide <= width, f"{where}: {wide} pixels wide")
    ready = int(marks.get("ready", -1))
    complain.expect(0 <= ready <= MOST_MILLISECONDS, f"{where}: ready after {ready} ms (-1: never), at most {MOST_MILLISECONDS}")
    return marks


COLOURS = """(() => {
  const canvas = document.querySelector('%s'), seen = new Set();
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  for (const pixel of pixels) seen.add(pixel);
  return seen.size;
})()"""


def check_drawn(browser, name, complain):
    for canvas in ("#memory", "#arena"):
        colours = browser.evaluate(COLOURS % canvas)
        complain.expect(colours > 8, f"{name}: {canvas} has {colours} colours: it is not drawn")


def check_large(browser, path, complain):
    """ResNet-152: opens quickly at every size and in both themes, and stays smooth."""
    papers = set()
    for width, height in SIZES:
        for dark in (False, True):
            marks = look_at(browser, path, width, height, dark, complain)
            complain.expect(int(marks.get("commands", 0)) > 1900, f"{path}: {marks.get('commands')} commands")
            check_drawn(browser, os.path.basename(path), complain)
            papers.add((dark, browser.evaluate("getComputedStyle(document.body).backgroundColor")))
    complain.expect(len(papers) == 2, f"light and dark look alike or change with the size: {papers}")
    frame = browser.evaluate("""(() => {
      const {map, memory} = gcPage.step, times = [];
      for (let i = 0; i < 21; ++i) {
        const begin = performance.now();
        map.zoomCentre(1.1);
        map.surface.paint();
        memory.surface.paint();
        times.push(performance.now() - begin);
      }
      return times.sort((a, b) => a - b)[10];
    })()""")
    complain.expect(frame < MOST_PER_FRAME, f"{path}: {frame:.0f} ms for a frame, at most {MOST_PER_FRAME}")


# Scrolling by the wheel goes on for some frames.
STILL = """new Promise((done) => {
  let last = -1, still = 0;
  const look = () => {
    still = window.scrollY === last ? still + 1 : 0;
    last = window.scrollY;
    if (still > 5) done();
    else setTimeout(look, 30);
  };
  look();
})"""


class StepPage:
    """The step's pictures, used as people do."""

    def __init__(self, browser, complain):
        self.browser, self.complain = browser, complain

    def evaluate(self, expression):
        return self.browser.evaluate(f"(() => {{ const step = gcPage.step, map = step.map, model = step.model; return {expression}; }})()")

    def expect(self, expression, text):
        self.complain.expect(self.evaluate(expression), f"{text}: {expression}")

    def centre(self, selector="#arena"):
        """In the window, scrolled to."""
        self.evaluate(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        self.browser.evaluate(STILL)
        box = self.evaluate(f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect();"
                            " return [b.left, b.top, b.width, b.height]; })()")
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def place_of(self, buffer):
        """The middle of a buffer's rectangle."""
        self.centre()
        x, y = self.evaluate(f"(() => {{ const b = model.buffers, i = {buffer}, f = map.frame, c = map.canvas.getBoundingClientRect();"
                             " return [c.left + 1 + f.x((b.first[i] + b.last[i] + 1) / 2), c.top + 1 + f.y(b.offset[i] + b.bytes[i] / 2)]; })()")
        return x, y

    def span(self):
        return self.evaluate("[step.view.x0, step.view.x1, map.y0, map.y1]")


LARGEST = "model.sorted(() => true)[0]"


def check_mouse(page, browser):
    x, y = page.centre()
    whole = page.span()
    browser.wheel(x, y, -240)
    page.expect("document.activeElement !== map.canvas && !map.hint.hidden", "scrolling past only hints")
    page.complain.expect(page.span() == whole, "scrolling past the picture zoomed it")
    x, y = page.place_of(LARGEST)
    browser.mouse("Moved", x, y)
    page.expect(f"!map.tip.hidden && map.tip.textContent.startsWith(model.names[{LARGEST}])", "hover names the buffer")
    page.expect("map.tip.textContent.includes('bytes') && map.tip.textContent.includes('alive')", "hover tells bytes and life")
    browser.click(x, y)
    page.expect(f"map.chosen === {LARGEST}", "a click chooses")
    page.expect(f"step.lists.chosenPanel.textContent.includes(model.names[{LARGEST}])", "what is chosen is told below")
    browser.wheel(x, y, -240)
    browser.evaluate(STILL)
    zoomed = page.span()
    page.complain.expect(zoomed[1] - zoomed[0] < whole[1] - whole[0] and zoomed[3] - zoomed[2] < whole[3] - whole[2],
                         f"the wheel did not zoom: {zoomed}")
    browser.drag(x, y, -60, 0)
    page.complain.expect(page.span()[0] > zoomed[0], f"dragging to the left did not move: {page.span()}")
    page.expect(f"map.chosen === {LARGEST}", "dragging chooses nothing")
    x, y = page.centre("#reset")
    browser.click(x, y)
    page.complain.expect(page.span() == whole, f"the button did not show all: {page.span()}")
    x, y = page.centre("#memory")
    browser.mouse("Moved", x, y)
    page.expect("!step.memory.tip.hidden && step.memory.tip.textContent.includes('activations')", "hover tells memory by kind")


def check_keys(page, browser):
    page.evaluate("map.canvas.focus()")
    whole = page.span()
    browser.key("+")
    zoomed = page.span()
    page.complain.expect(zoomed[1] - zoomed[0] < whole[1] - whole[0], "+ did not zoom")
    browser.key("ArrowRight")
    page.complain.expect(page.span()[0] > zoomed[0], "the right arrow did not move")
    browser.key("0")
    page.complain.expect(page.span() == whole, "0 did not show all")
    page.evaluate("map.choose(-1)")
    browser.key("n")
    page.expect(f"map.chosen === {LARGEST}", "n goes to the largest")
    browser.key("n")
    page.expect("map.chosen === model.sorted(() => true)[1]", "n goes on to the next")
    browser.key("Enter")
    page.complain.expect(page.span() != whole, "Enter did not go to the buffer")
    browser.key("Escape")
    page.expect("map.chosen === -1", "Escape lets go")
    browser.key("0")
    page.evaluate("step.memory.surface.canvas.focus()")
    browser.key("ArrowRight")
    page.expect("step.memory.at === model.peakAt && !step.memory.tip.hidden", "arrows in the first picture begin at the peak")


SEARCH = "(() => {{ const i = document.getElementById('search'); i.value = {}; i.dispatchEvent(new Event('input')); return 1; }})()"


def check_lists(page, browser):
    page.evaluate(SEARCH.format("'CONV'"))
    page.expect("step.lists.found.textContent.startsWith(map.matches.reduce((a, b) => a + b) + ' of ' + model.count)", "the search counts")
    page.expect("model.names.every((name, i) => !!map.matches[i] === name.includes('conv'))", "the search marks what it found")
    page.evaluate("document.querySelector('#all summary').click()")
    browser.evaluate("new Promise((done) => setTimeout(done, 50))")
    page.expect("document.querySelectorAll('#all-rows tbody tr').length === Math.min(14, map.matches.reduce((a, b) => a + b))",
                "the table has what was found")
    page.evaluate(SEARCH.format("''"))
    page.expect("map.matches === null && step.lists.found.textContent === ''", "no search, no marks")
    page.expect("document.querySelectorAll('#largest tbody tr').length > 5", "the largest at the peak")
    # The bytes by module are all of the peak.
    page.evaluate("[...document.querySelectorAll('#modules button')].forEach((b) => b.click())")
    page.expect("[...document.querySelectorAll('#modules tbody td.number')].reduce((sum, cell) => sum + parseInt(cell.title), 0) === model.peakBytes",
                "modules add up to the peak")
    page.evaluate("(() => { const c = document.getElementById('colour'); c.value = 'module'; c.dispatchEvent(new Event('change')); })()")
    page.expect("new Set(map.colours).size === map.moduleColours.size && map.moduleColours.size > 2", "colours by module")


def check_recomputation(page):
    page.expect("model.before !== null && model.commands.phase.includes('r')", "something is recomputed")
    page.expect("Math.max(...model.before.slice(0, model.data.microCommands)) === model.data.timeline.before.peak", "the line reaches the peak before")
    page.expect("!document.getElementById('before-section').hidden", "tensors at the peak before")
    page.expect("model.data.saved === null || model.data.saved.reason.length === new Set(model.buffers.holds.flatMap((h) => h || [])).size",
                "each saved value has its buffer")
    page.expect("model.data.saved === null || model.fates.includes('again')", "what is made again is known")


def check_touch(browser, path, complain):
    browser.open(url_of(path), 400, 800, touch=True)
    page = StepPage(browser, complain)
    x, y = page.place_of(LARGEST)
    browser.touch("Start", (x, y))
    browser.touch("End")
    page.expect(f"map.chosen === {LARGEST}", "a tap chooses")
    whole = page.span()
    x, y = page.centre()
    browser.touch("Start", (x - 30, y), (x + 30, y))
    for apart in (50, 70, 90):
        browser.touch("Move", (x - apart, y), (x + apart, y))
    browser.touch("End")
    zoomed = page.span()
    complain.expect(zoomed[1] - zoomed[0] < 0.7 * (whole[1] - whole[0]), f"a pinch did not zoom: {whole} to {zoomed}")


def check_use(browser, path, complain):
    look_at(browser, path, 1300, 900, False, complain)
    page = StepPage(browser, complain)
    check_mouse(page, browser)
    check_keys(page, browser)
    check_lists(page, browser)
    check_recomputation(page)
    for error in browser.errors():
        complain.expect(False, f"{path} in use: {error}")
    check_touch(browser, path, complain)


def check_hostile(browser, path, complain):
    """Names that would like to be markup are text."""
    look_at(browser, path, 1300, 900, False, complain)
    page = StepPage(browser, complain)
    page.evaluate(SEARCH.format("'onerror=alert'"))
    page.expect("map.matches.includes(1)", "the name came through")
    page.evaluate("map.choose(map.matches.indexOf(1))")
    page.expect("model.names[map.chosen].startsWith(\"</script><img src=x onerror=alert(1)><!--'\\\" é\")", "unchanged")
    page.expect("step.lists.chosenPanel.textContent.includes('</script><img')", "as text")
    page.expect("document.images.length === 0 && document.scripts.length === 2", "no element was made of it")


def check_run(browser, path, complain):
    for width, height in SIZES:
        look_at(browser, path, width, height, False, complain)
        complain.expect(browser.evaluate("gcPage.charts.length") >= 6, f"{path}: too few charts")
    titles = browser.evaluate("[...document.querySelectorAll('figcaption')].map((f) => f.textContent)")
    for title in ("Loss", "Accuracy", "Learning rate", "Throughput", "Memory of the process", "Utilization of the CPU"):
        complain.expect(title in titles, f"{path}: no chart of {title}: {titles}")
    browser.evaluate("gcPage.charts[0].canvas.focus()")
    browser.key("ArrowRight")
    complain.expect(browser.evaluate("!gcPage.charts[0].tip.hidden && gcPage.charts[0].tip.textContent.startsWith('step 1')"),
                    f"{path}: arrows do not go along the loss")
    browser.evaluate("document.querySelector('.chart summary').click()")
    browser.evaluate("new Promise((done) => setTimeout(done, 50))")
    complain.expect(browser.evaluate("document.querySelectorAll('.chart')[0].querySelectorAll('td.number').length") >= 6,
                    f"{path}: no table of the loss")


def make_pages(tools, models, folder):
    """The pages that are looked at."""
    environment = dict(os.environ, GC_NO_CALIBRATE="1", OMP_WAIT_POLICY="passive")

    def run(*command):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"check_pages: {' '.join(command)} ended with {done.returncode}\n{done.stderr[-2000:]}")

    compile_, train = os.path.join(tools, "gc-compile"), os.path.join(tools, "gc-run")
    run(os.path.join(tools, "gc-gen"), "resnet", "--depth=152", "--batch=8", "-o", "resnet152.mlir")
    run(compile_, "resnet152.mlir", "--optimizer=adam", "--html=resnet152.html")
    convnet = os.path.join(models, "convnet.mlir")
    run(compile_, convnet, "--remat=all", "--html=recomputed.html")
    with open(convnet, encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(folder, "hostile.mlir"), "w", encoding="utf-8") as file:
        file.write(re.sub(r"@conv\.weight", lambda _: f'@"{HOSTILE}.weight"', text).replace("@convnet", f'@"{HOSTILE}"'))
    run(compile_, "hostile.mlir", "--html=hostile.html")
    run(train, convnet, "--steps=6", "--evaluate", "--data=synthetic", "--limit=256", "--html=run.html")


def check_all(program, tools):
    models = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
    complain = Complaints()
    folder = tempfile.mkdtemp(prefix="gc-pages-")
    try:
        make_pages(tools, models, folder)
        with Browser(program) as browser:
            check_use(browser, os.path.join(folder, "recomputed.html"), complain)
            check_hostile(browser, os.path.join(folder, "hostile.html"), complain)
            check_run(browser, os.path.join(folder, "run.html"), complain)
            check_large(browser, os.path.join(folder, "resnet152.html"), complain)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if complain.checks < 90:
        complain.texts.append(f"only {complain.checks} checks were made")
    return complain


BROKEN = {"throws": "<script>nothing.here()</script>", "wide": "<div style='width: 2000px'>x</div>", "fetches": "<img src='other.png'>",
          "late": ""}


def self_check(program):
    """Pages with one fault each, all of which must be noticed."""
    missed = []
    with tempfile.TemporaryDirectory() as folder, Browser(program) as browser:
        for name, fault in BROKEN.items():
            path = os.path.join(folder, name + ".html")
            ready = "" if name == "late" else "<script>document.documentElement.dataset.ready = 1</script>"
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"<!DOCTYPE html><meta name='viewport' content='width=device-width'><p>page</p>{ready}{fault}")
            complain = Complaints()
            look_at(browser, path, 1300, 900, False, complain)
            if len(complain.texts) != 1:
                missed.append(f"{name}: expected one complaint, got {complain.texts}")
    return missed


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_pages.py BIN | --self-check")
    program = find_chromium()
    if not program:
        print("skipped: pages are judged by a real browser, and there is no Chromium (apt-get install chromium)")
        return SKIPPED
    if sys.argv[1] == "--self-check":
        texts = self_check(program)
    else:
        complain = check_all(program, sys.argv[1])
        texts = complain.texts
        print(f"{complain.checks} checks")
    for text in texts:
        print(text)
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
