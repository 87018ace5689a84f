# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a screen, for pages in files, or of a server. What a page logs and requests is kept."""

import atexit
import functools
import json
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from harness import TIMEOUT, poll

WIDTH, HEIGHT = 1440, 900
# Chrome started by root cannot use its own sandbox; animations are off, as tests would have to wait
# for them to end.
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--window-size={WIDTH},{HEIGHT}", "--force-prefers-reduced-motion", "--no-first-run",
             "--disable-background-networking", "--force-device-scale-factor=1")


@functools.cache
def shared():
    """The one that all tests use: it takes as long to start as most of them last."""
    browser = Browser()
    atexit.register(browser.quit)
    return browser


class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                                       options=options)
        self.driver.set_script_timeout(TIMEOUT) # 30 s otherwise

    def quit(self):
        self.driver.quit()

    def open(self, path, dark=False, height=HEIGHT):
        """With `dark` the system asks for dark pages."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.logs(), self.requests()
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})
        self.driver.set_window_size(WIDTH, height)
        self.driver.get(path if path.startswith("http:") else f"file://{path}")

    def logs(self):
        """Returns the messages that the page has put on the console since the last call: [] if all
        is well."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked for since the last call."""
        messages = (json.loads(entry["message"])["message"]
                    for entry in self.driver.get_log("performance"))
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".filter((e) => e.checkVisibility()).map((e) => e.textContent)", selector)

    def click(self, selector):
        self.one(selector).click()

    def press(self, *keys):
        """Keys for what has the focus."""
        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(getattr(Keys, key, key))
        chain.perform()

    def click_at(self, selector, x, y):
        """x is a share of the element's width, y is in pixels from its top."""
        element = self.one(selector)
        size = element.size
        ActionChains(self.driver).move_to_element_with_offset(
            element, int((x - 0.5) * size["width"]), int(y - size["height"] / 2)).click().perform()

    def hover_at(self, selector, x, y):
        element = self.one(selector)
        size = element.size
        ActionChains(self.driver).move_to_element_with_offset(
            element, int((x - 0.5) * size["width"]), int(y - size["height"] / 2)).perform()

    def run(self, script, *args):
        return self.driver.execute_script(script, *args)

    def run_async(self, script, *args):
        """The last argument of the script is what it calls with its result."""
        return self.driver.execute_async_script(script, *args)

    def wait(self, condition):
        """Waits for a condition that the page fulfils in its own time. Returns the condition's last
        value."""
        return poll(condition)
