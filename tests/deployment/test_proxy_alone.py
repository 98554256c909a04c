"""What nginx does by itself, before a stand-in for the web process or before none."""

from pathlib import Path

import pytest

from marcelcms.embedded.processes import free_port
from tests.deployment.proxy import HOST, VISITOR, nginx

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_a_failed_request_is_logged_without_whom_it_was_of(tools: Path, tmp_path: Path) -> None:
    with nginx(tools, tmp_path, web=free_port()) as proxy:
        away = proxy.get("/?q=my-question", Referer=f"https://{HOST}/my-page/")
        assert (away.status, away.headers["Retry-After"]) == (503, "5")
    said = (tmp_path / "nginx").read_text()
    assert not [words for words in ("my-question", "my-page", VISITOR) if words in said], said
    assert " / 503 " in said
