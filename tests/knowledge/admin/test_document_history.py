"""What staff see of a document's text: its preview, its versions, and what changed between them."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from core.diffs import MOST_LINES, MOST_SHOWN, Line, compare
from knowledge.models import Document
from knowledge.rendering import MOST_CHARACTERS, list_references, render_markdown
from knowledge.services.documents import save_document
from knowledge.tasks import index_document
from tests.factories import CourseFactory, DocumentFactory, UserFactory
from tests.sent import as_sent, labels_on, preset_on

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(index_document, "delay", delay)
    return delay


def get_versions_page(document: Document) -> str:
    return reverse("admin:knowledge_document_versions", args=[document.pk])


def rewritten(*texts: str, **values: Any) -> Document:
    """Make a document that was saved with each of the texts."""
    document = DocumentFactory(text=texts[0], **values)
    for text in texts[1:]:
        document.text = text
        save_document(document=document)
    return document


def said(line: Line) -> str:
    return "".join(part.text for part in line.parts)


# --- the preview ---


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        "[x](javascript:alert(1))",
        "[x](data:text/html,hello)",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "<img src=x onerror=alert(1)>",
        '[x](https://e.example/" onmouseover="alert(1))',
        "![x](https://tracker.example/pixel.gif)",
        '```x" onmouseover="alert(1)\n```',
    ],
)
def test_nothing_of_a_text_runs_loads_or_leads_astray(text: str) -> None:
    html = render_markdown(text)
    assert not any(sign in html for sign in ("<script", "<img", 'href="javascript', 'href="data', ' onmouseover="'))


@pytest.mark.parametrize(
    "url", ["/admin/logout/", "//elsewhere.example/", "ftp://files.example/", "page.html", "tel:112"]
)
def test_links_lead_to_the_web_and_to_mail_only(url: str) -> None:
    assert "href" not in render_markdown(f"[x]({url})")
    assert 'href="mailto:office@uni.example"' in render_markdown("[x](mailto:office@uni.example)")


def test_a_preview_has_no_inline_style_which_the_policy_forbids() -> None:
    html = render_markdown("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert "<table>" in html
    assert "style" not in html


def test_numbered_links_lead_to_the_references_of_the_page() -> None:
    links = [{"text": "Fees", "url": "https://www.uni.example/fees"}, {"text": "Bad", "url": "javascript:alert(1)"}]
    references = list_references({"references": links})
    html = render_markdown("See [the fees][1] and [this][2].", references)
    assert 'href="https://www.uni.example/fees"' in html
    assert 'rel="noopener noreferrer"' in html
    assert "[this][2]" in html
    assert [link["url"] for link in references] == ["https://www.uni.example/fees", ""]


@pytest.mark.parametrize("metadata", [None, [], {"references": 3}, {"references": [None, 4]}])
def test_further_data_of_any_shape_is_borne(metadata: Any) -> None:
    assert all(link == {"text": "", "url": ""} for link in list_references(metadata))


def test_page_markers_are_shown_as_pages() -> None:
    html = render_markdown("<!-- page 3 -->\n\nWhat stands there.")
    assert "page 3</span>" in html
    assert "&lt;!--" not in html


def test_a_long_text_is_rendered_in_part() -> None:
    assert "the end" not in render_markdown("word " * (MOST_CHARACTERS // 5) + "the end")


@pytest.mark.django_db
def test_the_form_shows_the_preview_and_its_links(admin_client: Client) -> None:
    links = [{"text": f"Fees {SCRIPT}", "url": "https://www.uni.example/fees"}]
    document = DocumentFactory(title=SCRIPT, text=f"# Hello\n\n{SCRIPT}", metadata={"references": links})
    page = admin_client.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    assert "<h3>Hello</h3>" in page
    assert "Fees &lt;script&gt;" in page
    assert SCRIPT not in page


# --- the comparison ---


def test_words_that_differ_are_marked_on_both_sides() -> None:
    removed, added = compare("It costs 318 euros.", "It costs 340 euros.").lines
    assert [part.text for part in removed.parts if part.is_changed] == ["318"]
    assert [part.text for part in added.parts if part.is_changed] == ["340"]
    assert (removed.kind, added.kind) == ("removed", "added")


def test_unchanged_lines_far_from_a_change_are_counted() -> None:
    lines = [f"line {n}" for n in range(20)]
    comparison = compare("\n".join(lines), "\n".join([*lines[:10], "another", *lines[10:]]))
    assert [(line.kind, line.count or said(line)) for line in comparison.lines] == [
        ("skipped", 8),
        ("same", "line 8"),
        ("same", "line 9"),
        ("added", "another"),
        ("same", "line 10"),
        ("same", "line 11"),
        ("skipped", 8),
    ]


@pytest.mark.parametrize(("old", "new"), [("", "a\n\nb"), ("a\n\nb", ""), ("a b\nc", "a\nb c\n\nd"), ("x\ny", "y\nx")])
def test_a_comparison_tells_both_texts_in_full(old: str, new: str) -> None:
    lines = compare(old, new).lines
    assert [said(line) for line in lines if line.kind != "added"] == old.splitlines()
    assert [said(line) for line in lines if line.kind != "removed"] == new.splitlines()


def test_equal_texts_have_no_lines() -> None:
    assert compare("a\nb", "a\nb").lines == ()


@pytest.mark.timeout(20)
def test_very_long_texts_are_compared_in_part_and_in_time() -> None:
    old, new = ("\n".join(f"{sign} {n} " + "word " * 300 for n in range(MOST_LINES + 10)) for sign in "ab")
    comparison = compare(old, new)
    assert comparison.is_cut
    assert len(comparison.lines) == MOST_SHOWN


# --- the screen ---


@pytest.mark.django_db
def test_a_document_with_one_version_says_so(admin_client: Client) -> None:
    assert "There is one version only." in admin_client.get(get_versions_page(DocumentFactory())).content.decode()


@pytest.mark.django_db
def test_versions_are_compared_with_their_successor_or_any_other(admin_client: Client, queued: Mock) -> None:
    document = rewritten("One.", "Two.", "Three.")
    first = document.revisions.get(text="One.")
    page = admin_client.get(get_versions_page(document), {"old": first.pk})
    assert (page.context["old"].text, page.context["new"].text) == ("One.", "Two.")
    page = admin_client.get(get_versions_page(document), {"old": first.pk, "new": "now"})
    assert (page.context["old"].text, page.context["new"].text) == ("One.", "Three.")
    text = page.content.decode()
    assert "<del>" in text
    assert "<ins>" in text


@pytest.mark.django_db
def test_a_change_shows_markup_as_text(admin_client: Client, queued: Mock) -> None:
    document = rewritten("Before.", f"After {SCRIPT}.", title=SCRIPT)
    page = admin_client.get(get_versions_page(document), {"old": document.revisions.get().pk}).content.decode()
    assert "&lt;" in page
    assert SCRIPT not in page


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["0", "x", "99999999999999999999", "9" * 5000])
def test_a_version_that_is_not_of_the_document_is_not_found(admin_client: Client, asked: str) -> None:
    assert admin_client.get(get_versions_page(DocumentFactory()), {"old": asked}).status_code == 404


@pytest.mark.django_db
def test_versions_take_as_many_queries_for_30_as_for_2(admin_client: Client, queued: Mock) -> None:
    counts = []
    for number in (3, 31):
        document = rewritten(*(f"Version {n}." for n in range(number)))
        query = {"old": document.revisions.earliest("pk").pk}
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(get_versions_page(document), query)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_versions_of_one_minute_are_told_apart_and_the_last_change_is_preset(
    admin_client: Client, queued: Mock
) -> None:
    document = DocumentFactory(text="One.")
    form = reverse("admin:knowledge_document_change", args=[document.pk])
    admin_client.post(form, as_sent(admin_client.get(form), "document_form", text="Two."))
    crawled = Document.objects.get(pk=document.pk)
    for text in ("Crawled.", "Three."):
        crawled.text = text
        save_document(document=crawled)
    page = admin_client.get(get_versions_page(document))
    labels = labels_on(page, "old")
    assert [label.partition(" ")[0] for label in labels] == ["#3", "#2", "#1"]
    assert [label.endswith("– admin") for label in labels] == [False, True, False]
    assert "#4" in page.content.decode()
    compared = admin_client.get(get_versions_page(document), preset_on(page))
    assert (compared.context["old"].text, compared.context["new"].text) == ("Crawled.", "Three.")


@pytest.mark.django_db
def test_restoring_keeps_what_was_indexes_and_is_logged(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = rewritten("One.", "Two.")
    url = reverse("admin:knowledge_document_restore", args=[document.pk, document.revisions.get().pk])
    queued.reset_mock()
    with django_capture_on_commit_callbacks(execute=True):
        assert admin_client.post(url).status_code == 302
    document.refresh_from_db()
    assert document.text == "One."
    assert set(document.revisions.values_list("text", flat=True)) == {"One.", "Two."}
    queued.assert_called_once_with(document.pk)
    assert LogEntry.objects.get().object_id == str(document.pk)
    assert admin_client.get(url).status_code == 405


@pytest.mark.django_db
def test_who_may_only_look_restores_nothing_and_sees_no_button(client: Client, queued: Mock) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_document"]))
    document = rewritten("One.", "Two.")
    assert "Restore this version" not in client.get(get_versions_page(document)).content.decode()
    url = reverse("admin:knowledge_document_restore", args=[document.pk, document.revisions.get().pk])
    assert client.post(url).status_code == 403
    document.refresh_from_db()
    assert document.text == "Two."


@pytest.mark.django_db
def test_who_may_not_see_documents_sees_no_versions(client: Client) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_collection"]))
    assert client.get(get_versions_page(DocumentFactory())).status_code == 403


@pytest.mark.django_db
def test_what_a_course_says_is_not_restored_in_its_document(admin_client: Client, queued: Mock) -> None:
    document = rewritten("One.", "Two.")
    CourseFactory(document=document)
    assert "Restore this version" not in admin_client.get(get_versions_page(document)).content.decode()
    url = reverse("admin:knowledge_document_restore", args=[document.pk, document.revisions.get().pk])
    assert admin_client.post(url).status_code == 403
