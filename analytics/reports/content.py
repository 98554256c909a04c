"""One file, from the question to its last row."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext_noop as _

from analytics.periods import Period
from analytics.privacy import mask_pii, remove_pii
from analytics.reports.columns import COLUMNS, typed
from analytics.reports.definition import Definition
from analytics.reports.formats.writers import Writer, offered_formats, writer
from analytics.reports.groups import measure_extent
from analytics.reports.permissions import Rights
from analytics.reports.queries import (
    MADE_BY,
    OWN_WORDS,
    SAID,
    Extent,
    Row,
    chosen,
    iterate_rows,
    snapshot,
)
from chat.models import Message
from core.db.reading import read_complete


def protect(row: Row) -> None:
    """Mask personal data of the row in place."""
    for key in OWN_WORDS:
        if row.get(key):
            row[key] = remove_pii(mask_pii(row[key]), row[SAID])
    if row.get("answer") and row[MADE_BY] != Message.Strategy.EXTRACTIVE:
        row["answer"] = remove_pii(row["answer"], row[SAID])


NO_PARQUET = _(
    "This server cannot make Parquet files any more: choose another file, or have the extra “parquet” installed."
)
#: Gets rows done, and of how many.
Progress = Callable[[int, int], None]


class NothingToTell(Exception):
    """There is no file to make; the message says why."""


def columns_for(definition: Definition, rights: Rights) -> tuple[str, ...]:
    """Return the report's columns, without identities unless the reader may see them."""
    return tuple(key for key in definition.columns if rights.sees_personal_text or not COLUMNS[key].is_identity)


def check(extent: Extent, columns: tuple[str, ...]) -> None:
    """Raise NothingToTell if there is nothing to export."""
    if not columns:
        raise NothingToTell(_("You may not see any of these columns."))
    if not extent.rows and extent.smallest > 1:
        raise NothingToTell(
            _(
                "There is no such answer, or they went to so few visitors that these could be told apart: choose more"
                " days, or fewer filters."
            )
        )
    if not extent.rows:
        raise NothingToTell(_("There is no such answer: choose more days, or fewer filters."))


def make_file(path: Path, definition: Definition, period: Period, rights: Rights, progress: Progress) -> Extent:
    """Write the file in the active language.

    Raise NothingToTell, OSError, and what `progress` raises; then there is no file.
    """
    if definition.format not in dict(offered_formats()):
        raise NothingToTell(NO_PARQUET)
    # Nothing may be missing: what was deleted before this must not come into a file that nobody erases it from.
    return read_complete(lambda alias: _make_file(alias, path, definition, period, rights, progress))


def _make_file(
    alias: str, path: Path, definition: Definition, period: Period, rights: Rights, progress: Progress
) -> Extent:
    columns = columns_for(definition, rights)
    with snapshot(alias) as at:
        answers = chosen(definition, period, rights)
        extent = measure_extent(definition, period, rights, columns, at)
        check(extent, columns)
        with _written(path, definition, columns) as file:
            done, values = 0, [(key, typed(key)) for key in columns]
            for batch in iterate_rows(answers, columns, extent, rights, using=at):
                for row in batch:
                    if not rights.sees_personal_text:
                        protect(row)
                    file.write([value_of(row[key]) for key, value_of in values])
                done += len(batch)
                progress(done, extent.rows)
    return extent


@contextmanager
def _written(path: Path, definition: Definition, columns: tuple[str, ...]) -> Iterator[Writer]:
    """Write a file that is complete at the end, or deleted."""
    is_whole = False
    try:
        file = writer(definition.format, path, columns)
        try:
            yield file
            file.close()
            is_whole = True
        finally:
            if not is_whole:
                file.abandon()
    finally:
        if not is_whole:
            path.unlink(missing_ok=True)
