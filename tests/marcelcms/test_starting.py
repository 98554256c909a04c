"""What a web process loads before it takes connections."""

import subprocess
import sys

import pytest

from tests.runtime.processes import ROOT

#: What only an evaluation, a look for gaps or a model's own process needs.
HEAVY = ("scipy", "sklearn", "torch", "onnxruntime", "openai")


@pytest.mark.slow
def test_a_web_process_starts_without_what_only_evaluations_need() -> None:
    program = f"""
import sys, django
django.setup()
import marcelcms.urls, chat.websocket.routing
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
