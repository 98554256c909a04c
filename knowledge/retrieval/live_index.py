"""The live generation of this process, and its lexical index.

A switch must not make a student wait for a large index to load: until the new generation's index is loaded, this
process answers only from the old one, whose rows stay for `knowledge.indexing.generations.GRACE`.
"""

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connections

from core.db.prepared import fetch_all
from knowledge.indexing.generations import live_generation
from knowledge.retrieval.bm25.index import LexicalIndex, newest_change
from knowledge.retrieval.bm25.shared_index import SharedLexicalIndex

logger = logging.getLogger(__name__)

SERVABLE = """
SELECT id, model, state = 'live', (SELECT coalesce(max(id), 0) FROM knowledge_indexchange),
    EXISTS (SELECT FROM knowledge_editiongroup)
FROM knowledge_generation
WHERE state = 'live' OR id = ANY(%s::bigint[])
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A generation to answer from; `model` makes its vectors, indexes read changes up to `newest_change`.

    `has_editions` says that some documents are editions of one matter.
    """

    pk: int
    model: str
    newest_change: int
    has_editions: bool = False


class LiveIndexes:
    """This process's lexical indexes by generation: one, and during a switch two."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: dict[int, LexicalIndex] = {}
        self._loading: threading.Thread | None = None

    def current(self) -> Served:
        """Return the generation that this process answers from; begin to load a new one's index."""
        rows = fetch_all(SERVABLE, [list(self._ready)])
        if gone := set(self._ready) - {pk for pk, *_ in rows}:
            with self._lock:
                self._ready = {pk: index for pk, index in self._ready.items() if pk not in gone}
        served = [(is_live, Served(pk, model, newest, editions)) for pk, model, is_live, newest, editions in rows]
        live = next((each for is_live, each in served if is_live), None)
        if live is None:
            made = live_generation()
            live = Served(made.pk, made.model, newest_change())
        if live.pk in self._ready or not self._ready:
            return live
        former = [each for is_live, each in served if not is_live]
        if not former:  # it is deleted already
            return live
        with self._lock:
            if self._loading is None:
                self._loading = threading.Thread(target=self._load, args=[live.pk], name="lexical-index", daemon=True)
                self._loading.start()
        return former[-1]

    def of(self, generation_id: int) -> LexicalIndex:
        """Return the generation's index, which follows the database from its first use on."""
        with self._lock:
            index = self._ready.get(generation_id)
            if index is None:  # created in milliseconds; it is filled at its first use
                index = self._ready[generation_id] = _make_index(generation_id)
            return index

    def loaded(self) -> dict[int, LexicalIndex]:
        """Return the loaded indexes by generation; the newest is, or will be, the live one's."""
        return dict(self._ready)

    def _load(self, generation_id: int) -> None:
        index = _make_index(generation_id)
        try:
            index.follow()
            with self._lock:  # the former one stays for questions that began in it, until its rows are deleted
                self._ready[generation_id] = index
        except DatabaseError:
            logger.warning("lexical index not loaded, tried again generation=%d", generation_id)
        finally:
            self._loading = None
            connections.close_all()

    def clear(self) -> None:
        with self._lock:
            self._ready = {}


def _make_index(generation_id: int) -> LexicalIndex:
    folder: Path | None = settings.LEXICAL_INDEX_FOLDER
    return SharedLexicalIndex(generation_id, folder) if folder else LexicalIndex(generation_id)


def own_index(generation_id: int) -> LexicalIndex:
    """Return an index up to date that may be changed: nobody else sees it."""
    return _indexes.of(generation_id).copied()


_indexes = LiveIndexes()
served_generation, lexical_index, forget_indexes = _indexes.current, _indexes.of, _indexes.clear
loaded_indexes = _indexes.loaded
