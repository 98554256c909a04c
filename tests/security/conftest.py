"""Browsers before the real application, on the test's own database."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.servers import Server

#: Runs before anything of the page: whatever means to show that it ran is heard, and what the policy stopped, too.
EARS = """
for (const name of ['hacked', 'alert', 'confirm', 'prompt', 'print'])
  window[name] = () => { window.tell(name + ' ran'); };
document.addEventListener('securitypolicyviolation',
  event => window.tell(`${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`));
"""
#: What no text may become: elements that run or load, handlers, inline styles, addresses of no web page.
SUSPICIOUS = """() => {
  const found = [];
  const own = address => new URL(address || '', location.href).origin === location.origin;
  const look = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) look(element.shadowRoot);
      const name = element.localName;
      if (['iframe', 'object', 'embed', 'base', 'applet', 'frame', 'frameset', 'math', 'marquee', 'audio', 'video',
           'animate', 'image', 'template', 'foreignobject'].includes(name)) found.push(element.outerHTML);
      if (name === 'script' && (!element.src || !own(element.src) || element.textContent.trim())
          && !/json$/.test(element.type)) found.push(element.outerHTML);
      if (name === 'img' && !own(element.src) && !element.src.startsWith('data:image/')) found.push(element.outerHTML);
      if (name === 'link' && !own(element.href)) found.push(element.outerHTML);
      if (name === 'form' && !own(element.getAttribute('action'))) found.push(element.outerHTML);
      if (name === 'meta' && element.httpEquiv === 'refresh') found.push(element.outerHTML);
      for (const attribute of element.attributes) {
        if (/^on/.test(attribute.name) || attribute.name === 'srcdoc') found.push(element.outerHTML);
        if (['href', 'xlink:href', 'src', 'action', 'formaction'].includes(attribute.name)
            && /^[\\s\\u0000-\\u0020]*(?:j\\s*a\\s*v\\s*a|vb)\\s*s\\s*c\\s*r|^\\s*data:(?!image\\/(?:png|svg))/i
               .test(attribute.value)) found.push(element.outerHTML);
      }
    }
  };
  look(document);
  return found.map(html => html.slice(0, 300));
}"""


@dataclass
class Watched:
    """A page; `heard` is all that ran or tried to, and every address outside that it asked for."""

    page: Page
    server: Server
    heard: list[str] = field(default_factory=list)

    def opens(self, path: str) -> None:
        response = self.page.goto(self.server.origin + path)
        assert response is not None
        assert response.status == 200, (path, response.status)
        self.is_harmless(path)

    def is_harmless(self, what: str) -> None:
        found = self.page.evaluate(SUSPICIOUS)
        assert found == [], (what, found[:5])
        assert self.heard == [], (what, self.heard[:5])
        assert self.page.url.startswith(self.server.origin), what


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    yield context
    context.close()


@pytest.fixture
def watched(server: Server, context: BrowserContext) -> Watched:
    page = context.new_page()
    seen = Watched(page, server)
    page.expose_function("tell", lambda what: seen.heard.append(what))
    page.add_init_script(EARS)

    def dismiss(dialog: object) -> None:
        seen.heard.append(f"dialog {dialog.message}")  # type: ignore[attr-defined]
        dialog.dismiss()  # type: ignore[attr-defined]

    def asked(url: str) -> None:
        if not url.startswith((server.origin, server.origin.replace("http", "ws"), "data:", "blob:")):
            seen.heard.append(f"asked for {url[:200]}")

    page.on("dialog", dismiss)
    page.on("pageerror", lambda error: seen.heard.append(f"error {error}"))
    page.on("request", lambda request: asked(request.url))
    page.on("console", lambda said: seen.heard.append(said.text[:300]) if said.type == "error" else None)
    return seen
