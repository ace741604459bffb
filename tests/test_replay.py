"""The replay in a real browser: it plays, any text stays text, and it asks for nothing."""

import base64
import dataclasses
import html
import json
import re
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from main_jax import replay
from main_jax.checkpoint import load_controller
from main_jax.errors import UserError
from main_jax.replay import Recording, check_inputs, record, replay_page, write_replay
from main_jax.solve import Solution
from main_jax.tasks import TASKS
from main_jax.trace import Episode, Step
from tests.browser import Browser
from tests.helpers import small_agent

CONTROLLERS = Path(__file__).parent.parent / "results" / "controllers"
LONG = "".join(np.random.default_rng(3).choice(list("0123456789"), 100))
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><b>{{data}}&lt;"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def quiet(request):
    """No test may leave a complaint in the console, or have asked for anything but its page."""
    yield
    if "browser" in request.fixturenames:
        browser = request.getfixturevalue("browser")
        assert browser.complaints() == []
        addresses = set(browser.requests())
        assert addresses and all(re.match("file:|data:,$|about:", a) for a in addresses), addresses


@pytest.fixture(scope="module")
def reverse_recording():
    _, agent, params, timesteps = load_controller(str(CONTROLLERS / "reverse"))
    return record(agent, params, "runs/reverse", timesteps, [LONG, "12345"])


@pytest.fixture(scope="module")
def reverse_page(reverse_recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "reverse.html"
    write_replay(path, [reverse_recording])
    return path


def copying(text, *, steps=None, slip=None):
    """An episode that copies cell by cell, without a controller; `slip` is copied wrong."""
    n, target = len(text), " " * (len(text) + 1) + text
    tape, made = f"{text}${'.' * n}", []
    episode_tape = tape
    for index in range(n if steps is None else steps):
        heads = (index, index, n + 1 + index)
        result = "x" if index == slip else text[index]
        tape = tape[: heads[2]] + result + tape[heads[2] + 1 :]
        chances = np.zeros((3, 2 * n + 1), np.float32)
        chances[range(3), heads] = 1
        modules = np.array([0, 1, 0, 0, 0], np.float32)
        arguments = text[index] * 2
        made.append(Step(1, heads, arguments, result, tape, modules, chances, n - index - 0.5))
    solution = Solution(tape[n + 1 :], tape.endswith(text), len(made))
    return Episode(TASKS["copy"], text, episode_tape, target, (n, 0, 2 * n), made, solution)


def one(browser, selector):
    return browser.driver.find_element(By.CSS_SELECTOR, selector)


def texts(browser, selector):
    """Of all such elements, whether or not they are in sight."""
    return browser.run(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def position(browser):
    return int(one(browser, "#position").text.split(" / ")[0])


def wait_until(browser, condition, seconds=60):
    WebDriverWait(browser.driver, seconds, poll_frequency=0.05).until(lambda _: condition())


def press(browser, *keys):
    for key in keys:
        browser.driver.switch_to.active_element.send_keys(key)


def cells(browser):
    """Position, character and classes of every cell that is drawn."""
    return browser.run(
        "return [...document.querySelectorAll('.cell')]"
        ".map((c) => [c.position, c.token.textContent, c.token.className])"
    )


def test_long_replay_is_small_and_keeps_the_distributions(reverse_recording, reverse_page):
    assert reverse_page.stat().st_size < 300_000
    data = re.search(
        r'<script type="application/json"[^>]*>(.*?)</script>', reverse_page.read_text()
    )
    packed = json.loads(data[1])["recordings"][0]["episodes"][0]["headLevels"]
    steps = reverse_recording.episodes[0].steps
    levels = np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8)
    chances = np.square(levels.reshape(len(steps), 3, 201) / 255)
    np.testing.assert_allclose(chances, [s.head_probabilities for s in steps], atol=0.005)


def test_final_tape_is_the_reference(browser, reverse_page):
    browser.open(reverse_page)
    assert texts(browser, ".text") == [f"{LONG}${'.' * 100}"]
    one(browser, "#last").click()
    assert one(browser, "#position").text == "100 / 100"
    expected = f"{LONG}${TASKS['reverse'].reference(LONG)}"
    assert texts(browser, ".text") == [expected]
    assert one(browser, ".verdict").text == "✓ solved in 100 steps"
    drawn = cells(browser)
    assert len(drawn) > 100 and drawn[-1][0] == 200
    for cell, character, classes in drawn:
        assert character == expected[cell]
        assert ("right" in classes.split()) == (cell > 100)


def test_each_step_shows_call_heads_and_chances(browser, reverse_page, reverse_recording):
    step, before = reverse_recording.episodes[0].steps[36], reverse_recording.episodes[0].steps[35]
    browser.open(reverse_page, "#input=1&step=37", height=2000)
    name = TASKS["reverse"].modules[step.module].name
    x, y = (f"{c}{head}" for c, head in zip(step.arguments, step.heads[:2], strict=True))
    assert texts(browser, ".call") == [f"{name}({x}, {y}) → {step.results}{step.heads[2]}"]
    wait_until(browser, lambda: browser.run("return !!player.panels[0].episode.levels"))
    lanes = browser.run(
        "return [...document.querySelectorAll('.cell')].map((c) => [c.position,"
        " c.lanes.map((l) => l.textContent), c.lanes.map((l) => l.className),"
        " c.lanes.map((l) => parseFloat(l.style.getPropertyValue('--level') || 0))])"
    )
    assert len(lanes) == 201
    for cell, marks, classes, levels in lanes:
        for head in range(3):
            assert (marks[head] == "12W"[head]) == (step.heads[head] == cell)
            assert ("came" in classes[head]) == (before.heads[head] == cell)
            chance = (levels[head] / 100) ** 2
            assert abs(chance - step.head_probabilities[head, cell]) < 0.005
    percents = [f"{100 * p:.0f} %" for p in np.round(step.module_probabilities, 3)]
    assert texts(browser, ".percent") == percents
    assert one(browser, ".value").text == f"{step.value:.2f}"


def test_play_and_pause(browser, reverse_page):
    browser.open(reverse_page)
    Select(one(browser, "#speed")).select_by_visible_text("10/s")
    play = one(browser, "#play")
    play.click()
    wait_until(browser, lambda: position(browser) >= 3)
    assert play.accessible_name == "Pause"
    play.click()
    stopped = position(browser)
    time.sleep(0.5)
    assert position(browser) == stopped < 100 and play.accessible_name == "Play"
    Select(one(browser, "#speed")).select_by_visible_text("100/s")
    play.click()
    wait_until(browser, lambda: position(browser) == 100)
    assert play.accessible_name == "Play"
    Select(one(browser, "#speed")).select_by_visible_text("1/s")
    play.click()  # from the end, it begins again
    wait_until(browser, lambda: 0 < position(browser) < 100)


def test_keyboard(browser, reverse_page):
    browser.open(reverse_page)
    press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert position(browser) == 1
    press(browser, Keys.END, Keys.ARROW_RIGHT)
    assert position(browser) == 100
    press(browser, Keys.HOME, Keys.ARROW_LEFT)
    assert position(browser) == 0
    press(browser, Keys.SPACE)
    wait_until(browser, lambda: position(browser) >= 2)
    press(browser, Keys.SPACE)
    assert one(browser, "#play").accessible_name == "Play"
    # Space presses the button that has the focus, and arrows move the slider by one, not by two.
    stopped = position(browser)
    browser.run("document.getElementById('forward').focus()")
    press(browser, Keys.SPACE)
    assert position(browser) == stopped + 1
    browser.run("document.getElementById('scrub').focus()")
    press(browser, Keys.ARROW_RIGHT)
    assert position(browser) == stopped + 2


def test_scrub_and_links(browser, reverse_page):
    browser.open(reverse_page)
    browser.run(
        "const scrub = document.getElementById('scrub'); scrub.value = 42;"
        "scrub.dispatchEvent(new Event('input'))"
    )
    assert position(browser) == 42
    assert browser.driver.current_url.endswith("#input=1&step=42")
    browser.run("location.hash = '#input=2&step=3'")
    wait_until(browser, lambda: one(browser, "#position").text == "3 / 5")
    assert texts(browser, ".text") == ["12345$543.."]
    Select(one(browser, "#input")).select_by_index(0)
    assert one(browser, "#position").text == "0 / 100"
    for wrong in ("#input=9&step=-4", "#step=x", "#<b>", "#input=1.5&step=1e9"):
        browser.open(reverse_page, wrong)
        assert position(browser) in (0, 100)


def test_plays_inside_another_page(browser, tmp_path):
    page = html.escape(replay_page([Recording("a", 5, [copying("70")])]))
    path = tmp_path / "notebook.html"
    path.write_text(f'<iframe srcdoc="{page}"></iframe>')
    browser.open(path)
    browser.driver.switch_to.frame(0)
    one(browser, "#forward").click()
    press(browser, Keys.ARROW_RIGHT)
    assert texts(browser, ".text") == ["70$70"]
    assert not one(browser, "#problem").is_displayed()


def test_hostile_text_stays_text(browser, tmp_path):
    episode = dataclasses.replace(copying("70"), text=HOSTILE)
    path = tmp_path / "replay.html"
    write_replay(path, [Recording(HOSTILE, 5, [episode, episode])])
    browser.open(path)
    assert texts(browser, ".label") == [HOSTILE]
    assert texts(browser, "#input option")[0].startswith("1: </script><img")
    assert HOSTILE[:20] in texts(browser, ".call")[0]
    assert browser.run("return document.querySelectorAll('img, b').length") == 0
    assert browser.driver.title == "copy: replay"


def test_policy_of_the_page_blocks_what_is_not_its_own(browser, tmp_path):
    path = tmp_path / "replay.html"
    page = replay_page([Recording("a", 5, [copying("70")])])
    path.write_text(page.replace("</body>", "<script>document.title = 'broken'</script></body>"))
    browser.open(path)
    assert browser.driver.title == "copy: replay"
    (complaint,) = browser.complaints()
    assert "Content Security Policy" in complaint


def test_input_that_is_solved_as_it_stands(browser, tmp_path):
    path = tmp_path / "replay.html"
    episode = dataclasses.replace(copying("7", steps=0), target="   ")
    solved = dataclasses.replace(episode, solution=Solution("", True, 0))
    write_replay(path, [Recording("a", 5, [solved])])
    browser.open(path, "#step=3")
    one(browser, "#play").click()
    assert one(browser, "#position").text == "0 / 0"
    wait_until(browser, lambda: one(browser, "#play").accessible_name == "Play")
    assert texts(browser, ".verdict") == ["✓ solved in 0 steps"]


def test_comparison_stands_side_by_side(browser, tmp_path):
    path = tmp_path / "compare.html"
    early = Recording("runs/copy@100", 100, [copying("7033", slip=2, steps=3)])
    write_replay(path, [early, Recording("runs/copy", 900, [copying("7033")])])
    browser.open(path, "#step=99")
    assert texts(browser, ".label") == ["runs/copy@100", "runs/copy"]
    assert texts(browser, ".timesteps") == ["100 timesteps", "900 timesteps"]
    assert texts(browser, ".verdict") == ["✗ not solved, 2 of 4 right", "✓ solved in 4 steps"]
    assert texts(browser, ".text") == ["7033$70x.", "7033$7033"]
    assert texts(browser, ".rows .token.wrong") == ["x", "."]
    left, right = browser.driver.find_elements(By.CSS_SELECTOR, ".panel")
    assert left.rect["y"] == right.rect["y"] and left.rect["x"] < right.rect["x"]
    press(browser, Keys.ARROW_LEFT)  # before the end, nothing is called wrong
    assert texts(browser, ".text") == ["7033$70x.", "7033$703."]
    press(browser, Keys.ARROW_LEFT)
    assert texts(browser, ".rows .token.wrong") == []


def test_only_what_is_in_sight_is_drawn(browser, tmp_path):
    path = tmp_path / "thousand.html"
    write_replay(path, [Recording("a", 5, [copying(LONG * 10)])])
    browser.open(path)
    assert 100 < len(cells(browser)) < 500
    for step, follow, cell in ((700, "write head", 1700), (700, "read 1 head", 699)):
        browser.run(f"location.hash = '#step={step}'")
        Select(one(browser, "#follow")).select_by_visible_text(follow)
        wait_until(browser, lambda: position(browser) == step)  # noqa: B023
        drawn = {where: character for where, character, _ in cells(browser)}
        assert drawn[cell] == LONG[99] and len(drawn) < 500
    browser.run("document.querySelector('.tape').scrollTop = 0")
    wait_until(browser, lambda: cells(browser)[0][0] == 0)
    Select(one(browser, "#speed")).select_by_visible_text("100/s")
    one(browser, "#first").click()
    one(browser, "#play").click()
    wait_until(browser, lambda: position(browser) == 1000)


@pytest.mark.parametrize("width", [320, 390, 768])
def test_fits_narrow_screens(browser, reverse_page, width):
    browser.open(reverse_page, "#step=50", width=width, height=800)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    shown = browser.run(
        "const tape = document.querySelector('.tape').getBoundingClientRect();"
        "return [...document.querySelectorAll('.cell')].every((c) => {"
        "  const box = c.getBoundingClientRect();"
        "  return box.left >= tape.left && box.right <= tape.right; })"
    )
    assert shown
    for button in browser.driver.find_elements(By.CSS_SELECTOR, ".player button"):
        box = button.rect
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["height"] >= 36


def test_light_and_dark(browser, reverse_page):
    background = "return getComputedStyle(document.body).backgroundColor"
    colours = {}
    for theme in ("light", "dark"):
        browser.open(reverse_page, theme=theme)
        colours[theme] = browser.run(background)
    assert colours["light"] != colours["dark"]
    button = one(browser, "#theme")  # auto, which is dark now
    for name, colour in (("light", "light"), ("dark", "dark"), ("auto", "dark")):
        button.click()
        assert button.accessible_name == f"Colours: {name}"
        assert browser.run(background) == colours[colour]


CONTRAST = """
const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
  .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const style = (selector) => getComputedStyle(document.querySelector(selector));
const pair = [light(style(arguments[0]).color), light(style(arguments[1]).backgroundColor)];
return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(browser, tmp_path, theme):
    path = tmp_path / "replay.html"
    write_replay(path, [Recording("a", 5, [copying("7033", slip=2)])])
    browser.open(path, "#step=4", theme=theme)
    for text, behind in (
        ("h1", "body"),
        (".legend li", "body"),
        (".rows .token", ".rows .token"),
        (".rows .token.right", ".rows .token.right"),
        (".rows .token.wrong", ".rows .token.wrong"),
        (".timesteps", ".panel"),
        (".verdict", ".panel"),
        (".lane-name", ".panel"),
    ):
        assert browser.run(CONTRAST, text, behind) >= 4.5, text


def test_controls_have_names_and_a_sensible_order(browser, reverse_page):
    browser.open(reverse_page)
    press(browser, Keys.TAB)
    order = []
    while (focused := browser.driver.switch_to.active_element).tag_name != "body":
        name = focused.get_attribute("id") or focused.get_attribute("class") or focused.tag_name
        if order and name == order[0]:
            break
        order.append(name)
        assert focused.accessible_name, name
        outline = focused.value_of_css_property("outline-style")
        assert outline != "none", name
        press(browser, Keys.TAB)
    player = ["first", "back", "play", "forward", "last", "scrub", "speed"]
    assert order == ["input", "follow", "theme", "tape", "summary", *player]
    press(browser, Keys.END)
    spoken = texts(browser, "#spoken")[0]
    assert "runs/reverse: " in spoken and "gives" in spoken and "solved in 100 steps" in spoken


def test_input_that_no_browser_could_hold_is_refused(monkeypatch):
    agent = small_agent(task="copy")
    monkeypatch.setattr(replay, "MAX_BYTES_PER_EPISODE", 3 * 21 * 18)
    check_inputs(agent, ["1234567890"])
    with pytest.raises(UserError, match="11 characters is too long to replay"):
        check_inputs(agent, ["1", "12345678901"])
