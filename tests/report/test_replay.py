"""The replay in a real browser: it plays, any text stays text, and it asks for nothing."""

import base64
import dataclasses
import html
import json
import re
import time
import zlib

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.evaluation.solve import Solution
from main_jax.programs.vocabulary import First
from main_jax.report import replay
from main_jax.report.replay import Recording, check_inputs, record, replay_page, write_replay
from tests.helpers import agent_by_hand, copying_episode, small_agent, small_params
from tests.programs.by_hand import PROGRAMS, rule

LONG = "".join(np.random.default_rng(3).choice(list("0123456789"), 100))
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><b>{{data}}&lt;"


@pytest.fixture(scope="module")
def reverse_recording():
    return record(agent_by_hand("reverse"), {}, "runs/reverse", 1000, [LONG, "12345"])


@pytest.fixture(scope="module")
def reverse_page(reverse_recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "reverse.html"
    write_replay(path, [reverse_recording])
    return path


def position(browser):
    return int(browser.one("#position").text.split(" / ")[0])


def cells(browser):
    """Position, character and classes of every cell that is drawn."""
    return browser.run(
        "return [...document.querySelectorAll('.cell')]"
        ".map((c) => [c.position, c.token.textContent, c.token.className])"
    )


def test_long_replay_is_small_and_keeps_the_distributions(reverse_page):
    assert reverse_page.stat().st_size < 300_000
    agent = small_agent(task="reverse", halting="oracle")  # sure of nothing
    recording = record(agent, small_params(agent), "a", 5, ["12345"])
    page = replay_page([recording])
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)
    packed = json.loads(data[1])["recordings"][0]["episodes"][0]["headLevels"]
    steps = recording.episodes[0].steps
    levels = np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8)
    chances = np.square(levels.reshape(len(steps), 3, 11) / 255)
    np.testing.assert_allclose(chances, [s.head_probabilities for s in steps], atol=0.005)


def test_final_tape_is_the_reference(browser, reverse_page):
    browser.open(reverse_page)
    assert browser.texts(".text") == [f"{LONG}${'.' * 100}"]
    browser.one("#last").click()
    assert browser.one("#position").text == "101 / 101"
    expected = f"{LONG}${TASKS['reverse'].reference(LONG)}"
    assert browser.texts(".text") == [expected]
    assert browser.one(".verdict").text == "✓ solved in 101 steps"
    drawn = cells(browser)
    assert len(drawn) > 100 and drawn[-1][0] == 200
    for cell, character, classes in drawn:
        assert character == expected[cell]
        assert ("right" in classes.split()) == (cell > 100)


def test_rules_of_a_program_stand_beside_the_steps(browser, tmp_path):
    loose = PROGRAMS["copy"]().replaced("read_1", [rule("start", "start+1", when=[First()])])
    path = tmp_path / "rules.html"
    write_replay(path, [Recording("a", 1, [copying_episode("12")], loose)])
    browser.open(path)
    assert browser.texts(".rules li") == []
    browser.one("#forward").click()
    assert browser.texts(".rules li")[:2] == [
        "module else: Identity",
        "read_1 first step: start or start+1 open choice",
    ]
    browser.one("#forward").click()
    assert browser.texts(".rules li")[1] == "read_1 no rule applies not what was done"


def test_each_step_shows_call_heads_and_chances(browser, reverse_page, reverse_recording):
    step, before = reverse_recording.episodes[0].steps[36], reverse_recording.episodes[0].steps[35]
    browser.open(reverse_page, "#input=1&step=37", height=2000)
    name = reverse_recording.episodes[0].choices[step.module]
    x, y = (f"{c}{head}" for c, head in zip(step.arguments, step.heads[:2], strict=True))
    assert browser.texts(".call") == [f"{name}({x}, {y}) → {step.results}{step.heads[2]}"]
    browser.wait_until(lambda: browser.run("return !!player.panels[0].episode.levels"))
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
    assert browser.texts(".percent") == percents
    assert browser.one(".value").text == f"{step.value:.2f}"


def test_play_and_pause(browser, reverse_page):
    browser.open(reverse_page)
    Select(browser.one("#speed")).select_by_visible_text("10/s")
    play = browser.one("#play")
    play.click()
    browser.wait_until(lambda: position(browser) >= 3)
    assert play.accessible_name == "Pause"
    play.click()
    stopped = position(browser)
    time.sleep(0.5)
    assert position(browser) == stopped < 101 and play.accessible_name == "Play"
    Select(browser.one("#speed")).select_by_visible_text("100/s")
    play.click()
    browser.wait_until(lambda: position(browser) == 101)
    assert play.accessible_name == "Play"
    Select(browser.one("#speed")).select_by_visible_text("1/s")
    play.click()  # from the end, it begins again
    browser.wait_until(lambda: 0 < position(browser) < 101)


def test_keyboard(browser, reverse_page):
    browser.open(reverse_page)
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert position(browser) == 1
    browser.press(Keys.END, Keys.ARROW_RIGHT)
    assert position(browser) == 101
    assert browser.texts(".call") == ["Halt"]
    browser.press(Keys.HOME, Keys.ARROW_LEFT)
    assert position(browser) == 0
    browser.press(Keys.SPACE)
    browser.wait_until(lambda: position(browser) >= 2)
    browser.press(Keys.SPACE)
    assert browser.one("#play").accessible_name == "Play"
    # Space presses the button that has the focus, and arrows move the slider by one, not by two.
    stopped = position(browser)
    browser.run("document.getElementById('forward').focus()")
    browser.press(Keys.SPACE)
    assert position(browser) == stopped + 1
    browser.run("document.getElementById('scrub').focus()")
    browser.press(Keys.ARROW_RIGHT)
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
    browser.wait_until(lambda: browser.one("#position").text == "3 / 6")
    assert browser.texts(".text") == ["12345$543.."]
    Select(browser.one("#input")).select_by_index(0)
    assert browser.one("#position").text == "0 / 101"
    for wrong in ("#input=9&step=-4", "#step=x", "#<b>", "#input=1.5&step=1e9"):
        browser.open(reverse_page, wrong)
        assert position(browser) in (0, 101)


def test_plays_inside_another_page(browser, tmp_path):
    page = html.escape(replay_page([Recording("a", 5, [copying_episode("70")])]))
    path = tmp_path / "notebook.html"
    path.write_text(f'<iframe srcdoc="{page}"></iframe>')
    browser.open(path)
    browser.driver.switch_to.frame(0)
    browser.one("#forward").click()
    browser.press(Keys.ARROW_RIGHT)
    assert browser.texts(".text") == ["70$70"]
    assert not browser.one("#problem").is_displayed()


def test_hostile_text_stays_text(browser, tmp_path):
    episode = dataclasses.replace(copying_episode("70"), text=HOSTILE)
    path = tmp_path / "replay.html"
    write_replay(path, [Recording(HOSTILE, 5, [episode, episode])])
    browser.open(path)
    assert browser.texts(".label") == [HOSTILE]
    assert browser.texts("#input option")[0].startswith("1: </script><img")
    assert HOSTILE[:20] in browser.texts(".call")[0]
    assert browser.run("return document.querySelectorAll('img, b').length") == 0
    assert browser.driver.title == "copy: replay"


def test_policy_of_the_page_blocks_what_is_not_its_own(browser, tmp_path):
    path = tmp_path / "replay.html"
    page = replay_page([Recording("a", 5, [copying_episode("70")])])
    path.write_text(page.replace("</body>", "<script>document.title = 'broken'</script></body>"))
    browser.open(path)
    assert browser.driver.title == "copy: replay"
    (complaint,) = browser.complaints()
    assert "Content Security Policy" in complaint


def test_input_that_is_solved_as_it_stands(browser, tmp_path):
    path = tmp_path / "replay.html"
    episode = dataclasses.replace(copying_episode("7", steps=0), target="   ")
    solved = dataclasses.replace(episode, solution=Solution("", True, 0))
    write_replay(path, [Recording("a", 5, [solved])])
    browser.open(path, "#step=3")
    browser.one("#play").click()
    assert browser.one("#position").text == "0 / 0"
    browser.wait_until(lambda: browser.one("#play").accessible_name == "Play")
    assert browser.texts(".verdict") == ["✓ solved in 0 steps"]


def test_comparison_stands_side_by_side(browser, tmp_path):
    path = tmp_path / "compare.html"
    early = Recording("runs/copy@100", 100, [copying_episode("7033", slip=2, steps=3)])
    write_replay(path, [early, Recording("runs/copy", 900, [copying_episode("7033")])])
    browser.open(path, "#step=99")
    assert browser.texts(".label") == ["runs/copy@100", "runs/copy"]
    assert browser.texts(".timesteps") == ["100 timesteps", "900 timesteps"]
    assert browser.texts(".verdict") == ["✗ not solved, 2 of 4 right", "✓ solved in 4 steps"]
    assert browser.texts(".text") == ["7033$70x.", "7033$7033"]
    assert browser.texts(".rows .token.wrong") == ["x", "."]
    left, right = browser.driver.find_elements(By.CSS_SELECTOR, ".panel")
    assert left.rect["y"] == right.rect["y"] and left.rect["x"] < right.rect["x"]
    browser.press(Keys.ARROW_LEFT)  # before the end, nothing is called wrong
    assert browser.texts(".text") == ["7033$70x.", "7033$703."]
    browser.press(Keys.ARROW_LEFT)
    assert browser.texts(".rows .token.wrong") == []


def test_only_what_is_in_sight_is_drawn(browser, tmp_path):
    path = tmp_path / "thousand.html"
    write_replay(path, [Recording("a", 5, [copying_episode(LONG * 10)])])
    browser.open(path)
    assert 100 < len(cells(browser)) < 500
    for step, follow, cell in ((700, "write head", 1700), (700, "read 1 head", 699)):
        browser.run(f"location.hash = '#step={step}'")
        Select(browser.one("#follow")).select_by_visible_text(follow)
        browser.wait_until(lambda: position(browser) == step)  # noqa: B023
        browser.wait_until(lambda: cell in [where for where, _, _ in cells(browser)])  # noqa: B023
        drawn = {where: character for where, character, _ in cells(browser)}
        assert drawn[cell] == LONG[99] and len(drawn) < 500
    browser.run("document.querySelector('.tape').scrollTop = 0")
    browser.wait_until(lambda: cells(browser)[0][0] == 0)
    Select(browser.one("#speed")).select_by_visible_text("100/s")
    browser.one("#first").click()
    browser.one("#play").click()
    browser.wait_until(lambda: position(browser) == 1000)


def test_input_that_no_browser_could_hold_is_refused(monkeypatch):
    agent = small_agent(task="copy")
    monkeypatch.setattr(replay, "MAX_BYTES_PER_EPISODE", 3 * 21 * 18)
    check_inputs(agent, ["1234567890"])
    with pytest.raises(UserError, match="11 characters is too long to replay"):
        check_inputs(agent, ["1", "12345678901"])
