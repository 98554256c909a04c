"""What a web process loads before it takes connections."""

import asyncio
import gc
import subprocess
import sys
import threading

import pytest

from marcelcms import asgi
from tests.runtime.processes import ROOT

#: What only an evaluation, a look for gaps, a model's own process, a workbook or a login by the directory needs.
HEAVY = ("scipy", "sklearn", "torch", "onnxruntime", "openai", "openpyxl", "authlib", "joserfc")


@pytest.mark.slow
def test_a_web_process_starts_without_what_few_processes_need() -> None:
    program = f"""
import sys, django
django.setup()
import marcelcms.urls, chat.websocket.routing
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_what_is_loaded_at_the_start_is_not_looked_through_for_garbage() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 100_000


async def test_a_web_process_begins_when_its_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, told = threading.Event(), asyncio.Queue[dict[str, str]]()
    sent: list[str] = []

    async def send(message):
        sent.append(message["type"])

    monkeypatch.setattr(asgi, "warming", threading.Thread(target=loaded.wait))
    asgi.warming.start()
    process = asyncio.create_task(asgi.until_answered({"type": "lifespan"}, told.get, send))
    await told.put({"type": "lifespan.startup"})
    await asyncio.sleep(0.05)
    assert sent == []
    loaded.set()
    await told.put({"type": "lifespan.shutdown"})
    await asyncio.wait_for(process, 5)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
