"""A backup gives back everything; a damaged one changes nothing."""

import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, connections
from psycopg.conninfo import make_conninfo
from pytest_django import Settings

from chat.models import Conversation
from faqs.indexing import sync_faq
from faqs.models import FAQ, FAQVector
from knowledge.models import Document, IndexChange, Passage
from knowledge.retrieval.live_index import forget_indexes
from marcelcms.backups import backup as backups_backup
from marcelcms.backups.manifest import DATABASE, MANIFEST
from marcelcms.backups.pg_tools import connection_arguments
from tests.conftest import QUESTION
from tests.factories import ConversationFactory, DocumentFactory, FAQFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _something(pages: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A thread of a command's loop would leave its connection behind.
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "media" / "documents").mkdir(parents=True)
    (tmp_path / "media" / "documents" / "fees.pdf").write_bytes(b"%PDF fees")
    UserFactory(username="registrar")
    ConversationFactory()
    sync_faq(FAQFactory(question="How much is a room?").pk)


@pytest.fixture
def media(settings: Settings) -> Path:
    return Path(settings.MEDIA_ROOT)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    out = StringIO()
    call_command("backup", str(tmp_path / "backups"), stdout=out)
    (made,) = (tmp_path / "backups").iterdir()
    assert str(made) in out.getvalue()
    return made


def destroy(media: Path) -> None:
    """All rows, and all files."""
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(media)
    forget_indexes()


def restore(file: Path, *options: str) -> str:
    out = StringIO()
    call_command("restore", str(file), *options, stdout=out)
    forget_indexes()
    return out.getvalue()


def refusal(file: Path, *options: str) -> str:
    with pytest.raises(CommandError) as caught:
        restore(file, *options)
    return str(caught.value)


def answer() -> dict[str, Any]:
    out = StringIO()
    call_command("ask", QUESTION, "--json", stdout=out)
    said: dict[str, Any] = json.loads(out.getvalue())
    return {name: said[name] for name in ("answer", "abstained", "strategy", "citations")}


def everything() -> dict[str, Any]:
    return {
        "documents": list(Document.objects.order_by("pk").values()),
        "passages": [str(row) for row in Passage.objects.order_by("pk").values()],
        "faqs": list(FAQ.objects.order_by("pk").values()),
        "vectors": FAQVector.objects.count(),
        "changes": list(IndexChange.objects.order_by("pk").values()),
        "conversations": list(Conversation.objects.order_by("pk").values()),
        "users": list(User.objects.order_by("pk").values()),
    }


def altered(backup: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return the backup with other members, in their order."""
    with tarfile.open(backup) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    change(members)
    made = backup.with_name("altered.tar")
    with tarfile.open(made, "w") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return made


def test_what_was_destroyed_comes_back_and_answers_the_same(backup: Path, media: Path) -> None:
    said, there = answer(), everything()
    assert not said["abstained"]
    destroy(media)
    assert answer()["abstained"]
    assert "3 Document" in restore(backup)
    assert everything() == there
    assert answer() == said
    assert (media / "documents" / "fees.pdf").read_bytes() == b"%PDF fees"
    assert [path.name for path in media.iterdir()] == ["documents"], "nothing is left of the work"
    call_command("verify_index", stdout=StringIO())


def test_after_a_restore_new_rows_get_new_numbers(backup: Path, media: Path) -> None:
    newest = max(Document.objects.values_list("pk", flat=True))
    destroy(media)
    restore(backup)
    assert DocumentFactory().pk > newest


def test_what_is_there_is_replaced_only_when_asked_to(backup: Path, media: Path) -> None:
    there = everything()
    Document.objects.update(title="Changed since")
    (media / "later.pdf").write_bytes(b"later")
    changed = everything()
    said = refusal(backup)
    assert "--replace" in said
    assert "3 documents" in said
    assert everything() == changed
    restore(backup, "--replace")
    assert everything() == there
    assert not (media / "later.pdf").exists()


def test_a_backup_is_for_its_owner_alone_and_says_what_is_in_it(backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with tarfile.open(backup) as archive:
        manifest = json.load(archive.extractfile(MANIFEST))  # type: ignore[arg-type]
        assert set(archive.getnames()) == {MANIFEST, *manifest["checksums"]}
    assert manifest["rows"]["knowledge.Document"] == 3
    assert {"vector", "pg_trgm"} <= set(manifest["extensions"])


def test_what_is_being_written_or_was_left_behind_is_not_in_it(media: Path, tmp_path: Path) -> None:
    for name in ("reports/1.csv.part", "reports/1-1.sheet", ".restore-killed/database.dump"):
        (media / name).parent.mkdir(exist_ok=True)
        (media / name).write_bytes(b"half")
    call_command("backup", str(tmp_path), stdout=StringIO())
    with tarfile.open(next(tmp_path.glob("*.tar"))) as archive:
        assert set(archive.getnames()) == {DATABASE, MANIFEST, "media/documents/fees.pdf"}


def test_a_file_that_grows_meanwhile_is_taken_as_it_was(
    media: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = tarfile.TarFile.gettarinfo

    def grow(name: str) -> None:
        if name.endswith("fees.pdf"):
            with (media / "documents" / "fees.pdf").open("ab") as file:
                file.write(b", more")

    def grown(*args: Any, arcname: str, **options: Any) -> Any:
        grow(arcname)
        entry = look(*args, arcname=arcname, **options)
        grow(arcname)
        return entry

    monkeypatch.setattr(tarfile.TarFile, "gettarinfo", grown)
    call_command("backup", str(tmp_path / "made"), stdout=StringIO())
    restore(next((tmp_path / "made").glob("*.tar")), "--replace")
    assert (media / "documents" / "fees.pdf").read_bytes() == b"%PDF fees, more"


def test_a_file_that_is_deleted_meanwhile_is_left_out(
    media: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = media / "documents" / "gone.pdf"
    there.write_bytes(b"%PDF")
    monkeypatch.setattr(backups_backup, "_media", lambda look=backups_backup._media: [*look(), there.unlink()][:-1])
    call_command("backup", str(tmp_path / "made"), stdout=StringIO())
    with tarfile.open(next((tmp_path / "made").glob("*.tar"))) as archive:
        assert "media/documents/gone.pdf" not in archive.getnames()


def test_what_a_killed_backup_left_behind_goes_in_the_next_night(media: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    left = [made / ".marcelcms-backup-killed", media / ".restore-killed", made / ".marcelcms-backup-running"]
    yesterday = time.time() - 24 * 3600
    for folder in left:
        folder.mkdir(parents=True)
        (folder / DATABASE).write_bytes(b"all that students wrote")
        if folder.name.endswith("killed"):
            os.utime(folder, (yesterday, yesterday))
    call_command("backup", str(tmp_path / "made"), stdout=StringIO())
    assert [folder.exists() for folder in left] == [False, False, True]


def test_what_others_keep_in_the_same_folder_stays(media: Path, tmp_path: Path) -> None:
    """A home, in which other programs call their folders so."""
    theirs, yesterday = [tmp_path / ".backup-2025", tmp_path / ".backup-list"], time.time() - 24 * 3600
    theirs[0].mkdir()
    theirs[1].touch()
    for path in theirs:
        os.utime(path, (yesterday, yesterday))
    call_command("backup", str(tmp_path), stdout=StringIO())
    assert all(path.exists() for path in theirs)


@pytest.mark.parametrize("damage", ["no tar", "cut off", "flipped", "no manifest", "file missing", "strange manifest"])
def test_a_damaged_backup_is_named_and_changes_nothing(backup: Path, media: Path, damage: str) -> None:
    data = backup.read_bytes()
    match damage:
        case "no tar":
            backup.write_bytes(b"not a backup")
        case "cut off":
            backup.write_bytes(data[: len(data) // 2])
        case "flipped":
            at = data.index(b"%PDF fees")
            backup.write_bytes(data[:at] + b"%PDF feez" + data[at + 9 :])
        case "no manifest":
            backup = altered(backup, lambda members: members.pop(MANIFEST) and None)
        case "file missing":
            backup = altered(backup, lambda members: members.pop("media/documents/fees.pdf") and None)
        case "strange manifest":
            backup = altered(backup, lambda members: members.update({MANIFEST: b'{"format": 7}'}))
    there = everything()
    said = refusal(backup, "--replace")
    assert "backup" in said.lower()
    assert everything() == there
    assert (media / "documents" / "fees.pdf").exists()
    assert len(list(media.iterdir())) == 1


def test_a_dump_that_breaks_midway_is_rolled_back(backup: Path, media: Path) -> None:
    """Its checksum is right, so that only PostgreSQL's programs notice."""

    def cut(members: dict[str, bytes]) -> None:
        data = bytearray(members[DATABASE])
        data[-500:-436] = bytes(64)
        members[DATABASE] = bytes(data)
        manifest = json.loads(members[MANIFEST])
        manifest["checksums"][DATABASE] = hashlib.sha256(members[DATABASE]).hexdigest()
        members[MANIFEST] = json.dumps(manifest).encode()

    there = everything()
    assert "is as it was" in refusal(altered(backup, cut), "--replace")
    assert everything() == there
    assert (media / "documents" / "fees.pdf").exists()


def test_a_backup_of_a_newer_version_is_refused(backup: Path) -> None:
    def age(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        manifest["migrations"].append("chat.9999_from_tomorrow")
        members[MANIFEST] = json.dumps(manifest).encode()

    there = everything()
    assert "chat.9999_from_tomorrow" in refusal(altered(backup, age), "--replace")
    assert everything() == there


def test_nothing_is_written_outside_by_a_hostile_archive(backup: Path, tmp_path: Path) -> None:
    hostile = altered(backup, lambda members: members.update({"../../escaped": b"x"}))
    assert "backup" in refusal(hostile, "--replace")
    assert not list(tmp_path.rglob("escaped"))


def test_a_link_in_an_archive_is_not_followed(backup: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.tar.gz"
    with tarfile.open(backup) as source, tarfile.open(hostile, "w:gz") as target:
        link = tarfile.TarInfo("media/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        target.addfile(link)
        for member in source:
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
    assert "cannot be read" in refusal(hostile, "--replace")


def test_a_restore_waits_for_everybody_to_stop(backup: Path) -> None:
    entry = connection.settings_dict
    where = make_conninfo(
        host=entry["HOST"], port=entry["PORT"], dbname=entry["NAME"], user=entry["USER"], password=entry["PASSWORD"]
    )
    with psycopg.connect(where, application_name="marcelcms 1@web-1"):
        assert "marcelcms 1@web-1" in refusal(backup, "--replace")


def test_the_password_is_on_no_command_line() -> None:
    where, environment = connection_arguments()
    password = connections["default"].settings_dict["PASSWORD"]
    assert password
    assert password not in where
    assert environment["PGPASSWORD"] == password
    assert "PGPASSWORD" not in os.environ
