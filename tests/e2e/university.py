"""A university's own website with the widget on it: another origin than the service, a strict policy, rude styles."""

import re
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.runtime.stack import Run

#: What a page's address may say of the script's tag.
ATTRIBUTES = ("lang", "theme", "transport", "mode", "frame", "target")
RUDE = """
html { font-size: 62.5% }
* { box-sizing: content-box }
button { background: red !important; text-transform: uppercase }
p { color: green; margin: 3em }
svg { display: none }
body { margin: 0; line-height: 3 }
body.inline { display: flex; flex-direction: column; height: 100vh }
body.inline h1, body.inline p { position: absolute; clip-path: inset(50%) }
body.inline main { flex: 1; min-height: 0 }
"""


MAKE_SITE = """
from chat.models import Assistant, Site
lindi = Assistant.objects.earliest("pk")
site = Site(name="Faculty", assistant=lindi, allowed_origins=["{origin}"], privacy_url="{privacy}")
site.full_clean()
site.save()
print(site.public_id)
"""


class University:
    """A site of that run. Serves `/?mode=inline&lang=de...`, where `page` is the language of the page and the others
    are ATTRIBUTES; `small` demands Trusted Types and allows none."""

    def __init__(self, run: Run) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.origin = f"http://localhost:{self._server.server_port}"
        self.service = f"http://127.0.0.1:{run.port}"
        privacy = "https://www.uni-lindental.example/privacy"
        self.site = run.does(MAKE_SITE.format(origin=self.origin, privacy=privacy)).strip()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def policy(self, query: dict[str, str]) -> str:
        service = self.service
        strict = (
            f"default-src 'none'; script-src {service}; style-src 'self'; img-src {service}; frame-src {service}; "
            f"connect-src {service} {service.replace('http', 'ws', 1)}; base-uri 'none'; form-action 'none'"
        )
        return strict + ("; require-trusted-types-for 'script'; trusted-types 'none'" if "small" in query else "")

    def page(self, query: dict[str, str]) -> str:
        inline = {"target": "#here"} if query.get("mode") == "inline" else {}
        said = {name: value for name, value in {**query, **inline}.items() if name in ATTRIBUTES}
        attributes = "".join(f' data-{name}="{re.sub("[^#a-z]", "", value)}"' for name, value in said.items())
        script = f'<script async src="{self.service}/widget/v1.js" data-site="{self.site}"{attributes}></script>'
        return (
            f'<!DOCTYPE html><html lang="{re.sub("[^a-z]", "", query.get("page", ""))}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>University</title>'
            f'<link rel="stylesheet" href="/page.css"></head><body class="{"inline" if inline else ""}">'
            '<h1>University of Lindental</h1><p>Welcome. <a href="#x">A link</a></p><main id="here"></main>'
            f"{script}</body></html>"
        )


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, university: University, *args: Any) -> None:
        self.university = university
        super().__init__(*args)

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        kind = "css" if address.path == "/page.css" else "html"
        body = (RUDE if kind == "css" else self.university.page(query)).encode()
        self.send_response(200 if address.path in {"/", "/page.css"} else 404)
        headers = {"Content-Type": f"text/{kind}", "Content-Length": str(len(body))}
        for name, value in {**headers, "Content-Security-Policy": self.university.policy(query)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass
