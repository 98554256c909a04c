"""A site on this machine whose pages are drawn by scripts, and pages whose scripts go too far."""

import json
from pathlib import Path

import pytest

from tests.browser import find_chromium
from tests.knowledge.site import Answer, Site, page, prose

#: Draws the page that the address names from its data, once its style sheet is there, as bundles do.
APP = """
const path = location.pathname === '/' ? '/home' : location.pathname;
const style = document.head.appendChild(document.createElement('link'));
style.rel = 'stylesheet';
style.href = '/app.css';
style.onload = async () => {
  const reply = await fetch('/api' + path + '.json');
  const data = reply.ok ? await reply.json() : {title: 'Page not found', text: 'Go back to the home page.', links: []};
  document.title = data.title;
  const links = data.links.map(link => `<li><a href="${link}">${link}</a></li>`).join('');
  document.getElementById('app').innerHTML =
    `<main><h1>${data.title}</h1><p>${data.text}</p></main><nav><ul>${links}</ul></nav>`;
};
"""
DRAWS = "document.getElementById('app').innerHTML = `<main><h1>${title}</h1><p>${text}</p></main>`;"


def chromium(folder: Path) -> str:
    """Return a program that starts Chromium without its sandbox, which it does not have as root or in most containers.

    Skips the test where there is no Chromium.
    """
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium here: install the package chromium")
    program = folder / "chromium-without-sandbox"
    program.write_text(f'#!/bin/sh\nexec {path} --no-sandbox "$@"\n')
    program.chmod(0o755)
    return str(program)


def shell(script: str = "", *, source: str = "", said: str = "") -> Answer:
    """Make a page that is empty without its script."""
    named = f'<script src="{source}"></script>' if source else f"<script>{script}</script>"
    body = f'<!doctype html><html lang="en"><head><title>Loading</title></head><body><div id="app">{said}</div>{named}'
    return page(body.encode(), **{"Last-Modified": "Mon, 05 Jan 2026 08:00:00 GMT"})


def draw(title: str, text: str = "") -> str:
    """Write a script that draws a page."""
    return f"const title = {json.dumps(title)}, text = {json.dumps(text or prose(title))}; {DRAWS}"


def data(title: str, *, text: str = "", links: tuple[str, ...] = ()) -> Answer:
    body = json.dumps({"title": title, "text": text or prose(title), "links": links}).encode()
    return Answer(200, body, {"Content-Type": "application/json"})


def application(site: Site) -> None:
    """Add a single-page application of three pages and a link to one that is none."""
    for path in ("/", "/fees", "/library", "/nowhere"):
        site.answers[path] = shell(source="/app.js", said="Loading ...")
    site.answers["/app.js"] = Answer(200, APP.encode(), {"Content-Type": "text/javascript"})
    site.answers["/api/home.json"] = data("The university", links=("/fees", "/library", "/nowhere"))
    site.answers["/api/fees.json"] = data("Fees")
    site.answers["/api/library.json"] = data("The library")
