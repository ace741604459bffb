"""How the replay looks: it fits the screen, can be read, and can be used without a mouse."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from main_jax.report.replay import Recording, write_replay
from tests.helpers import copying_episode


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "copy.html"
    episodes = [copying_episode("0123456789" * 10), copying_episode("12345")]
    write_replay(path, [Recording("runs/copy", 5, episodes)])
    return path


@pytest.mark.parametrize("width", [320, 390, 768])
def test_fits_narrow_screens(browser, page, width):
    browser.open(page, "#step=50", width=width, height=800)
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


def test_light_and_dark(browser, page):
    background = "return getComputedStyle(document.body).backgroundColor"
    colours = {}
    for theme in ("light", "dark"):
        browser.open(page, theme=theme)
        colours[theme] = browser.run(background)
    assert colours["light"] != colours["dark"]
    button = browser.one("#theme")  # auto, which is dark now
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
    write_replay(path, [Recording("a", 5, [copying_episode("7033", slip=2)])])
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


def test_controls_have_names_and_a_sensible_order(browser, page):
    browser.open(page)
    browser.press(Keys.TAB)
    order = []
    while (focused := browser.driver.switch_to.active_element).tag_name != "body":
        name = focused.get_attribute("id") or focused.get_attribute("class") or focused.tag_name
        if order and name == order[0]:
            break
        order.append(name)
        assert focused.accessible_name, name
        outline = focused.value_of_css_property("outline-style")
        assert outline != "none", name
        browser.press(Keys.TAB)
    player = ["first", "back", "play", "forward", "last", "scrub", "speed"]
    assert order == ["input", "follow", "theme", "tape", "summary", *player]
    browser.press(Keys.END)
    spoken = browser.texts("#spoken")[0]
    assert "runs/copy: " in spoken and "gives" in spoken and "solved in 100 steps" in spoken
