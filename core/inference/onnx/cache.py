"""Files that are made from a package once and kept."""

import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


def load_made(target: Path, make: Callable[[], bytes], load: Callable[[Path], T]) -> T:
    """Return what `load` makes of `target`. A file that cannot be read, such as one that a machine left when its power
    failed, is made once more where that is possible."""
    made = made_once(target, make)
    try:
        return load(made)
    except Exception as error:
        if not os.access(made.parent, os.W_OK):  # an image's files cannot be changed
            raise
        logger.warning("a broken file of a model is made again file=%s error=%s", made.name, type(error).__name__)
        made.unlink(missing_ok=True)  # another process may have done so
        return load(made_once(target, make))


def made_once(target: Path, make: Callable[[], bytes]) -> Path:
    """Return `target`, after writing what `make` returns if it does not exist yet."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        data = make()
        # Renamed into place: another process may be doing the same.
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power failure may leave the name without the contents
        made = Path(file.name)
        made.chmod(0o644)
        made.replace(target)
    return target
