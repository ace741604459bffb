"""Headless Chromium for tests of pages, or a skip that conftest.py makes loud."""

import json
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

NO_BROWSER = "no Chromium with its driver here (Debian: apt-get install chromium chromium-driver)"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    def __init__(self, profile):
        binaries = (shutil.which(name) for name in ("chromium", "chromium-browser", "chrome"))
        binary, driver = next(filter(None, binaries), None), shutil.which("chromedriver")
        if not binary or not driver:
            pytest.skip(NO_BROWSER)
        options = webdriver.ChromeOptions()
        options.binary_location = binary
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.get("about:blank")
        self.complaints()  # those of the browser's own first page
        self.requests()

    def open(self, path, hash="", width=1280, height=860, theme="light"):
        """Loads a page anew, as if on a screen of that size with that preference."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        preference = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preference})
        self.driver.get("about:blank")
        self.driver.get(f"{path.as_uri()}{hash}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector) -> list[str]:
        """Of all such elements, whether or not they are in sight."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def wait_until(self, condition, seconds=60):
        WebDriverWait(self.driver, seconds, poll_frequency=0.05).until(lambda _: condition())

    def complaints(self) -> list[str]:
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses asked for since the last call."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def close(self):
        self.driver.quit()
