"""The form field that holds Markdown: a plain text field, with what its editor needs."""

import json

from django.forms import CharField, Form
from django.test import Client
from django.utils import translation
from lxml import html

from core.admin.markdown_widget import MarkdownTextarea
from knowledge.models import Document
from tests.factories import DocumentFactory, FAQFactory
from tests.sent import as_sent

#: Blanks at its ends, a tab, two blanks before a line's end.
TEXT = "\n# A  \n\n\n*\tb\n\n<b>c</b> & d  \n\n"


class Page(Form):
    text = CharField(widget=MarkdownTextarea({"rows": 5}, breaks=True), strip=False)


def element(form: Form) -> html.HtmlElement:
    return html.fromstring(str(form["text"]))


def test_it_is_a_text_field_with_the_text_in_it() -> None:
    field = element(Page({"text": "**a** <b>"}))
    assert (field.tag, field.get("name"), field.get("rows")) == ("textarea", "text", "5")
    assert field.text_content().strip() == "**a** <b>"
    assert "data-breaks" in field.attrib


def test_its_words_are_those_of_the_readers_language() -> None:
    assert json.loads(element(Page()).get("data-editor") or "")["bold"] == "Bold"
    with translation.override("de"):
        words = json.loads(element(Page()).get("data-editor") or "")
    assert words["bold"] == "Fett"
    assert all(words.values())


def test_its_script_and_style_are_files() -> None:
    media = str(Page().media)
    assert "core/editor/editor.js" in media
    assert "core/editor/editor.css" in media
    assert "<style" not in media


def test_line_ends_are_the_texts_own() -> None:
    form = Page({"text": "a\r\nb"})
    assert form.is_valid()
    assert form.cleaned_data["text"] == "a\nb"


def test_a_documents_untouched_text_is_saved_as_it_was(admin_client: Client) -> None:
    document = DocumentFactory(title="Before", text=TEXT)
    address = f"/admin/knowledge/document/{document.pk}/change/"
    page = admin_client.get(address)
    # As browsers send it.
    reply = admin_client.post(address, as_sent(page, "document_form", title="After", text=TEXT.replace("\n", "\r\n")))
    assert reply.status_code == 302
    now = Document.objects.get(pk=document.pk)
    assert (now.title, now.text) == ("After", TEXT)


def test_an_faqs_answers_have_the_editor_and_its_key_points_do_not(admin_client: Client) -> None:
    faq = FAQFactory()
    page = html.fromstring(admin_client.get(f"/admin/faqs/faq/{faq.pk}/change/").content.decode())
    fields = {area.get("name"): area for area in page.iter("textarea") if area.get("data-editor")}
    assert sorted(fields) == ["answer_de", "answer_en"]
    assert {area.get("lang") for area in fields.values()} == {"de", "en"}
