"""A generation's lexical index in a folder that all processes of a machine share: see docs/decisions/0060.

One process at a time changes it. The state file says which change it holds, and is written after the indexes: a process
that is killed between leaves changes that the next one reads again.
"""

import datetime
import fcntl
import json
import logging
import math
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.db import connections

from core.db.reading import is_behind, read_alias
from knowledge.models import Generation, IndexChange
from knowledge.retrieval.bm25.collection_index import CollectionIndex
from knowledge.retrieval.bm25.index import LexicalIndex, changed_documents, list_abbreviations, newest_change
from knowledge.retrieval.bm25.schema import RECIPE

logger = logging.getLogger(__name__)

_outside = ThreadPoolExecutor(1, "lexical-follower")

STATE, LOCK, OWN = "state.json", "lock", "own-"
#: Folders that nobody wrote to for so long are left over: indexes of one's own, and those of a former version.
OWN_DAYS, FORMER_DAYS = datetime.timedelta(days=1), datetime.timedelta(days=7)
#: How long an index that is there waits for another process that changes it, and how often it looks.
PATIENCE_SECONDS, LOOK_SECONDS = 3.0, 0.005


@dataclass(frozen=True, slots=True)
class State:
    """What a folder holds: all changes up to `at`, which was made at `made_at`.

    `changed_at` has, by collection, the last change that its index was written for.
    """

    at: int
    made_at: str
    changed_at: dict[str, int]


class FolderBusy(Exception):
    """Another process holds the folder for longer than is waited."""


class IndexFolder:
    """The folder of one generation's index."""

    def __init__(self, parent: Path, generation_id: int) -> None:
        self._path = parent / f"{generation_id}-{RECIPE}"

    @contextmanager
    def locked(self, *, seconds: float = math.inf) -> Iterator[None]:
        """Wait until no other process reads or changes the folder; it is free again when this one ends.

        Raises FolderBusy after so many seconds.
        """
        self._path.mkdir(parents=True, exist_ok=True)
        until = time.monotonic() + seconds
        with (self._path / LOCK).open("a") as file:
            while not _lock(file):
                if time.monotonic() >= until:
                    raise FolderBusy
                time.sleep(LOOK_SECONDS)
            yield

    def read(self) -> State | None:
        """Return what the folder holds; None if it is nothing that can be used."""
        try:
            return State(**json.loads((self._path / STATE).read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            logger.warning("lexical index made anew, state file not readable")
            return None

    def write(self, state: State) -> None:
        new = self._path / f"{STATE}.new"
        new.write_text(json.dumps(asdict(state)))
        new.replace(self._path / STATE)

    def empty(self) -> None:
        (self._path / STATE).unlink(missing_ok=True)
        for collection in self._path.iterdir():
            if collection.is_dir():
                shutil.rmtree(collection)

    def link_collection(self, name: str, target: Path) -> None:
        leave = shutil.ignore_patterns("*.lock")
        shutil.copytree(self.of_collection(name), target, copy_function=os.link, ignore=leave)

    def of_collection(self, collection_id: int | str) -> Path:
        return self._path / str(collection_id)


class SharedLexicalIndex(LexicalIndex):
    """The index of a folder as this process sees it; every process that follows brings it up to date for all.

    Where the folder cannot be used, this process keeps an index of its own in memory until it ends, and says so.
    """

    def __init__(self, generation_id: int, parent: Path) -> None:
        super().__init__(generation_id)
        self._folder: IndexFolder | None = IndexFolder(parent, generation_id)
        self._parent = parent
        self._is_late = False
        #: The last change that each collection's index was opened at.
        self._seen: dict[str, int] = {}

    @property
    def is_shared(self) -> bool:
        return self._folder is not None

    def follow(self, newest: int | None = None) -> None:
        """Read every change committed so far, or up to `newest` if that was read just now.

        A transaction may see what is old, or what is never committed: a thread with its own connection reads for it.
        """
        if not connections[read_alias()].in_atomic_block:
            super().follow(newest)
        elif not self._has_read(newest_change() if newest is None else newest):
            _outside.submit(self._follow_outside).result()

    def _follow_outside(self) -> None:
        try:
            super().follow()
        finally:
            connections.close_all()

    def _catch_up(self, newest: int) -> int:
        if self._folder:
            try:
                with self._folder.locked(seconds=self._patience()):
                    at = self._follow_folder(self._folder, newest)
                self._is_late = False
                return at
            except FolderBusy:
                if not self._is_late:
                    logger.warning("lexical index held by another process at=%d", self._at)
                self._is_late = True
                return self._at
            except (OSError, ValueError) as error:  # Tantivy raises ValueError for what the file system refuses
                logger.error("lexical index kept in memory, its folder cannot be used error=%s", error)
                self._folder, self._at = None, -1
        return super()._catch_up(newest)

    def _patience(self) -> float:
        """Return the seconds to wait for another process: a student is answered from before its change, if it hangs."""
        if self._at < 0:
            return math.inf
        return 0.0 if self._is_late else PATIENCE_SECONDS

    def _follow_folder(self, folder: IndexFolder, newest: int) -> int:
        state = folder.read()
        collections = self._open(folder, state) if state and _is_of_this_database(state) else None
        if state is None or collections is None:
            remove_left_over(self._parent)
            folder.empty()
            self._collections = self._build()
            changed_at = {str(pk): newest for pk in self._collections}
        elif newest <= state.at:
            list_abbreviations(collections)
            self._collections, self._seen = collections, state.changed_at
            return state.at
        else:
            changed = self._replace(changed_documents(state.at, newest), collections)
            self._collections = collections
            changed_at = state.changed_at | {str(pk): newest for pk in changed}
        folder.write(State(newest, _made_at(newest), changed_at))
        self._seen = changed_at
        return newest

    def _open(self, folder: IndexFolder, state: State) -> dict[int, CollectionIndex] | None:
        """Return the indexes of all collections, reloaded where others changed them; None if one is damaged."""
        opened: dict[int, CollectionIndex] = {}
        try:
            for name, changed_at in state.changed_at.items():
                index = self._collections.get(int(name))
                if index is None:
                    index = CollectionIndex(folder.of_collection(name))
                elif self._seen.get(name) != changed_at:
                    index.reload()
                opened[int(name)] = index
        except (OSError, ValueError) as error:
            logger.warning("lexical index made anew, files not readable error=%s", error)
            return None
        return opened

    def _make(self, collection_id: int) -> CollectionIndex:
        return CollectionIndex(self._folder.of_collection(collection_id) if self._folder else None)

    def copied(self) -> LexicalIndex:
        """Return an index of one's own with the same content: what is changed in it nobody else sees.

        Its files are links to those of the folder, which Tantivy never changes, only replaces.
        """
        self.follow()
        if self._folder is None:
            return super().copied()
        own = LexicalIndex(self._generation_id)
        home = Path(tempfile.mkdtemp(prefix=OWN, dir=self._parent))
        weakref.finalize(own, shutil.rmtree, home, ignore_errors=True)
        with self._folder.locked():
            names = [str(pk) for pk in self._collections]
            for name in names:
                self._folder.link_collection(name, home / name)
            own.take_over({int(name): CollectionIndex(home / name) for name in names}, self.at)
        return own


def remove_left_over(parent: Path) -> None:
    """Remove the folders of generations that are gone, and what ended processes and former versions left."""
    generations = {str(pk) for pk in Generation.objects.values_list("pk", flat=True)}
    for folder in parent.iterdir():
        generation, _, recipe = folder.name.partition("-")
        age = datetime.timedelta(seconds=time.time() - folder.stat().st_mtime)
        if folder.name.startswith(OWN):
            is_left_over = age > OWN_DAYS
        else:
            is_left_over = generation not in generations or (recipe != RECIPE and age > FORMER_DAYS)
        if is_left_over:
            shutil.rmtree(folder, ignore_errors=True)


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_of_this_database(state: State) -> bool:
    """Return whether the last change that the folder holds is one of this database, and no backup's is in its place."""

    def is_there() -> bool:
        return not state.at or _made_at(state.at) == state.made_at

    return is_there() or is_behind(is_there)


def _made_at(change: int) -> str:
    made = IndexChange.objects.filter(pk=change).values_list("created_at", flat=True).first()
    return made.isoformat() if made else ""
