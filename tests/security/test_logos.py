"""A picture that no site shows any more is not kept."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from chat.models import Site
from tests.factories import SiteFactory

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture(autouse=True)
def media(settings: Settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def logo(name: str = "logo.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, PNG)


def kept(media: Path) -> set[str]:
    return {str(path.relative_to(media)) for path in media.rglob("*") if path.is_file()}


def form_of(site: Site, **changes: object) -> dict[str, object]:
    form = {"name": site.name, "assistant": site.assistant_id, "accent": site.accent, "position": site.position}
    return {**form, "is_active": "on", **changes}


def test_staff_replace_a_logo_and_the_old_file_goes(
    admin_client: Client, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    site = SiteFactory(logo=logo())
    first = site.logo.name
    assert kept(media) == {first}
    page = reverse("admin:chat_site_change", args=[site.pk])
    with django_capture_on_commit_callbacks() as callbacks:
        assert admin_client.post(page, form_of(site, logo=logo("new.png"))).status_code == 302
    site.refresh_from_db()
    assert kept(media) == {first, site.logo.name}  # until it is committed
    for callback in callbacks:
        callback()
    assert kept(media) == {site.logo.name} != {first}


def test_staff_take_a_logo_away_and_its_file_goes(
    admin_client: Client, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    site = SiteFactory(logo=logo())
    with django_capture_on_commit_callbacks(execute=True):
        page = reverse("admin:chat_site_change", args=[site.pk])
        assert admin_client.post(page, {**form_of(site), "logo-clear": "on"}).status_code == 302
    site.refresh_from_db()
    assert not site.logo
    assert kept(media) == set()


def test_a_deleted_site_takes_its_logo_along(
    admin_client: Client, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    one, two, three = (SiteFactory(logo=logo()) for _ in range(3))
    stays = SiteFactory(logo=logo()).logo.name
    with django_capture_on_commit_callbacks(execute=True):
        one.delete()
        admin_client.post(
            reverse("admin:chat_site_changelist"),
            {"action": "delete_selected", "_selected_action": [two.pk, three.pk], "post": "yes"},
        )
    assert kept(media) == {stays}
    assert Site.objects.count() == 1


def test_what_is_saved_without_a_new_logo_keeps_its_file(
    media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    site = SiteFactory(logo=logo())
    name = site.logo.name
    with django_capture_on_commit_callbacks(execute=True):
        site.name = "Another"
        site.save()
        site.logo = ""
        site.save(update_fields=["name"])
    assert kept(media) == {name}


@pytest.mark.django_db(transaction=True)
def test_a_change_that_fails_keeps_the_file(media: Path) -> None:
    site = SiteFactory(logo=logo())
    name = site.logo.name
    with transaction.atomic():
        site.delete()
        transaction.set_rollback(True)
    assert Site.objects.count() == 1
    assert kept(media) == {name}
