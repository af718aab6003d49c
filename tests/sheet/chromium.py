"""Pages in a real browser: where it is, and how a test opens one and hears what it says."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: apt-get install chromium"
)
Open = Callable[..., Any]


def launched() -> Iterator[Any]:
    """A running browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # The pages are our own, and containers seldom grant the sandbox its namespaces.
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


def visiting(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    """A function that opens a file by name; what the page says or asks for is in `page.heard`."""
    contexts = []

    def visit(name: str, fragment: str = "", **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("dialog", lambda dialog: page.heard.append(dialog.message))
        page.on("request", lambda request: page.heard.append(request.url.partition("#")[0]))
        page.goto(f"{files[name].as_uri()}{fragment}")
        return page

    yield visit
    for context in contexts:
        context.close()
