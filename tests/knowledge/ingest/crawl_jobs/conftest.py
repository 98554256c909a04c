"""Crawls without an embedding model, and with their files in a folder of the test."""

from pathlib import Path

import pytest
from pytest_django import Settings

from knowledge.ingest.crawl_jobs import runs
from tests.knowledge.embedders import Instant, use


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> Instant:
    """Record what is embedded; nothing is queued, and nothing takes long."""
    settings.MEDIA_ROOT, settings.STATE_DIR = tmp_path / "media", tmp_path
    settings.PDF_MAX_MEGABYTES = 1
    monkeypatch.setattr(runs, "TIMEOUT_S", 1.0)
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)
    watched = Instant()
    use(monkeypatch, watched)
    return watched
