"""The checks of signatures in docs/administrator/other-programs.md are taken out of the page and do what it says."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.outgoing.signature import new_secret, sign
from tests.runtime.processes import ROOT
from tests.widget.toolchain import node_folder

PAGE = (ROOT / "docs" / "administrator" / "other-programs.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r'^```\w+ title="(verify[^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
BODY = '{"type":"test","data":{"question":"Prüfung?"}}'.encode()

Check = Callable[[str, dict[str, str], bytes], bool]


@pytest.fixture(params=["verify.py", "verify.mjs"])
def check(request: pytest.FixtureRequest, tmp_path: Path) -> Check:
    source = EXAMPLES[request.param]
    if request.param == "verify.py":
        names: dict[str, Any] = {}
        exec(source, names)
        made: Check = names["is_from_marcel"]
        return made
    (tmp_path / "verify.mjs").write_text(source, "utf-8")
    (tmp_path / "main.mjs").write_text(
        'import { isFromMarcel } from "./verify.mjs";\n'
        "const [secret, headers, body] = JSON.parse(process.argv[2]);\n"
        "console.log(isFromMarcel(secret, headers, Buffer.from(body)));\n"
    )

    def by_node(secret: str, headers: dict[str, str], body: bytes) -> bool:
        sent = json.dumps([secret, headers, body.decode()])
        command = [node_folder() / "node", tmp_path / "main.mjs", sent]
        return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=30).stdout) is True

    return by_node


def headers(secret: str, *, at: float | None = None, body: bytes = BODY) -> dict[str, str]:
    moment = int(at or time.time())
    signature = sign(secret, message_id="5f2d", timestamp=moment, body=body)
    return {"webhook-id": "5f2d", "webhook-timestamp": str(moment), "webhook-signature": signature}


def test_what_is_from_here_is_accepted_and_nothing_else(check: Check) -> None:
    secret = new_secret()
    sent = headers(secret)
    assert check(secret, sent, BODY)
    assert check(secret, {**sent, "webhook-signature": f"v1,AAAA {sent['webhook-signature']}"}, BODY)
    assert not check(new_secret(), sent, BODY)
    assert not check(secret, sent, BODY + b" ")
    assert not check(secret, {**sent, "webhook-id": "5f2e"}, BODY)
    assert not check(secret, {**sent, "webhook-signature": "v1,AAAA"}, BODY)
    assert not check(secret, headers(secret, at=time.time() - 400), BODY)


def test_the_page_names_every_event() -> None:
    from chat.models import WebhookEvent

    section = PAGE.partition("## Events for other programs")[2]
    assert set(re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)) == {*WebhookEvent.values, "test"}
