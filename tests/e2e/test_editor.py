"""Staff write pages and answers as readers see them; what nobody touches keeps its bytes."""

import json
import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import keep, violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: As no single hand writes it, with blanks and tabs at ends of lines.
BY_HAND = "\n# Hours #\n* one\n* two  \n\n\nSome __old__ text, see [fees][3].\n<!-- page 2 -->\n\n***\n*\tlast\n\n"
MAKE_DOCUMENTS = """
import json
import uuid
from knowledge.models import Collection, Document
collection = Collection.objects.get(slug="lindental")
texts = json.loads({texts!r})
texts["Long"] = "A sentence of a long handbook. " * 7_000
for title, text in texts.items():
    url = f"https://pages.example/{{uuid.uuid4()}}"
    texts[title] = Document.objects.create(collection=collection, title=title, text=text, url=url).pk
print(json.dumps(list(texts.values())))
"""
READ_DOCUMENT = """
import json
from knowledge.models import Document
print(json.dumps(Document.objects.get(pk={pk}).text))
"""
FROM_WORD = """<html><head><meta charset="utf-8"><style>p {color: red}</style></head><body><!--StartFragment-->
<h2 style="font-family:Calibri"><span style="color:#2F5496">Fees<o:p></o:p></span></h2>
<p class="MsoNormal">Pay by <b>1 May</b>, see <a href="https://uni.example/fees">the list</a> or
<a href="javascript:alert(1)">not this</a>.<img src="https://tracker.example/a.png"></p>
<p class="MsoListParagraph" style="text-indent:-18pt;mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">·
</span>Card</p>
<p class="MsoListParagraph" style="mso-list:l0 level2 lfo1"><span style="mso-list:Ignore">o </span>at the desk</p>
<p class="MsoListParagraph" style="mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">·</span>Transfer</p>
<table><tr><td colspan="2"><p>Both</p></td></tr><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>
<!--EndFragment--></body></html>"""
PASTED = """## Fees

Pay by 1 May, see [the list](https://uni.example/fees) or not this.

- Card
  - at the desk
- Transfer

| Both |  |
| --- | --- |
| a b | c |"""
PASTE = """(text, html) => {
  const data = new DataTransfer();
  data.setData("text/html", html);
  const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  text.dispatchEvent(paste);
}"""


class Desk:
    """A page of a member of staff; its problems are what the browser reported on it."""

    def __init__(self, page: Page, run: Run) -> None:
        self.page, self.run = page, run
        self.problems: list[str] = []
        page.context.on("page", self._watch)
        self._watch(page)
        page.goto(f"http://127.0.0.1:{run.port}/admin/login/?next=/admin/knowledge/document/")
        page.locator("#id_username").fill("admin")
        page.locator("#id_password").fill(run.password)
        page.locator("input[type=submit]").click()
        page.locator("#result_list").wait_for()

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda line: self.problems.append(line.text) if line.type == "error" else None)

    def opens(self, path: str) -> Locator:
        """Open a page of the admin; return its formatted text."""
        self.page.goto(f"http://127.0.0.1:{self.run.port}/admin/{path}")
        return self.page.get_by_role("textbox", name="Text", exact=False).and_(self.page.locator(".editor-text"))

    def opens_document(self, pk: int) -> Locator:
        return self.opens(f"knowledge/document/{pk}/change/")

    def saves(self) -> None:
        self.page.get_by_role("button", name="Save and continue editing").click()
        expect(self.page.locator(".messagelist .success")).to_be_visible()

    def makes(self, texts: dict[str, str]) -> list[int]:
        made: list[int] = json.loads(self.run.does(MAKE_DOCUMENTS.format(texts=json.dumps(texts))))
        return made

    def reads(self, pk: int) -> str:
        return str(json.loads(self.run.does(READ_DOCUMENT.format(pk=pk))))

    def has_no_barrier(self) -> None:
        """Ask axe, whose own styles the page would report as blocked."""
        assert self.problems == []
        assert violations(self.page) == []
        self.problems.clear()


@pytest.fixture
def desk(browser: Browser, quoting: Run) -> Iterator[Desk]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    desk = Desk(context.new_page(), quoting)
    yield desk
    context.close()
    assert desk.problems == []


def test_a_page_is_written_with_the_keyboard_alone(desk: Desk) -> None:
    text = desk.opens("knowledge/document/add/")
    page, keys = desk.page, desk.page.keyboard
    page.locator("#id_title").fill("Lockers in the library")
    page.locator("#id_url").fill(f"https://pages.example/{uuid.uuid4()}")
    page.locator("#id_collection").select_option(label="Lindental")
    text.focus()
    expect(text).to_have_attribute("aria-multiline", "true")
    keys.press("Control+Shift+2")
    keys.type("Lockers")
    expect(page.get_by_role("button", name="Heading 2")).to_have_attribute("aria-pressed", "true")
    keys.press("Enter")
    keys.type("They are ")
    keys.press("Control+b")
    keys.type("free")
    keys.press("Control+b")
    keys.type(", see ")
    keys.press("Control+k")
    dialog = page.get_by_role("dialog", name="Link")
    expect(dialog.get_by_label("Text of the link")).to_be_focused()
    keys.type("the rules")
    keys.press("Tab")
    keys.type("javascript:alert(1)")
    keys.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Write a web address")
    desk.has_no_barrier()
    dialog.get_by_label("Address").fill("www.uni.example/rules")
    keys.press("Enter")
    expect(text).to_be_focused()
    keys.type(".")
    keys.press("Enter")
    keys.type("- Bring a coin")
    keys.press("Enter")
    keys.type("or a card")
    keys.press("Enter")
    keys.press("Enter")
    # To the buttons and along them; the first group's second button is three stops from the last one's end.
    keys.press("Alt+F10")
    keys.press("End")
    for _ in range(2):
        keys.press("ArrowLeft")
    expect(page.get_by_role("button", name="Insert a table")).to_be_focused()
    keys.press("Enter")
    keys.type("Floor")
    keys.press("ArrowDown")
    keys.type("1")
    page.get_by_role("button", name="Add a row").click()
    page.get_by_role("button", name="Delete the column").click()
    keys.press("Control+z")
    desk.has_no_barrier()
    keep(page, "editor")
    keys.press("Tab")
    expect(text).not_to_be_focused()
    desk.saves()
    expected = (
        "## Lockers\n\nThey are **free**, see [the rules](https://www.uni.example/rules).\n\n"
        "- Bring a coin\n- or a card\n\n| Floor |  |\n| --- | --- |\n| 1 |  |\n|  |  |\n|  |  |"
    )
    expect(page.locator("#id_text")).to_have_value(expected)


def test_what_nobody_touches_keeps_its_bytes(desk: Desk) -> None:
    pk = desk.makes({"By hand": BY_HAND})[0]
    text = desk.opens_document(pk)
    expect(text.locator("h1")).to_have_text("Hours")
    text.click()
    desk.page.keyboard.press("Control+End")
    desk.page.locator("#id_title").fill("By many hands")
    desk.saves()
    assert desk.reads(pk) == BY_HAND
    desk.page.locator(".editor-text strong").click()
    desk.page.keyboard.press("End")
    desk.page.keyboard.press("Home")
    desk.page.keyboard.type("All ")
    desk.saves()
    assert desk.reads(pk).strip() == BY_HAND.replace("Some __old__", "All Some **old**").strip()


def test_text_that_would_lose_something_stays_markdown_and_says_why(desk: Desk) -> None:
    *pks, long = desk.makes({"HTML": "A <sup>2</sup>", "Notes": "A[^1]\n\n[^1]: B", "Fine": "- a"})
    page, field = desk.page, desk.page.locator("#id_text")
    for pk, reason in zip((*pks[:2], long), ("has HTML", "has footnotes", "too long"), strict=True):
        desk.opens_document(pk)
        expect(field).to_be_visible()
        expect(page.locator(".editor").get_by_role("status")).to_contain_text(reason)
    text = desk.opens_document(pks[-1])
    expect(text).to_be_visible()
    page.get_by_role("button", name="Markdown", exact=True).click()
    expect(field).to_be_visible()
    field.fill("- a\n- b")
    desk.has_no_barrier()
    desk.saves()
    expect(field).to_be_visible()
    expect(field).to_have_value("- a\n- b")
    page.get_by_role("button", name="Formatted", exact=True).click()
    expect(text.locator("li")).to_have_count(2)


def test_what_is_pasted_keeps_its_structure_alone(desk: Desk) -> None:
    text = desk.opens("knowledge/document/add/")
    text.focus()
    text.evaluate(f"(text) => ({PASTE})(text, {json.dumps(FROM_WORD)})")
    expect(desk.page.locator("#id_text")).to_have_value(PASTED)


def test_passages_stand_beside_the_text_and_below_it_on_a_phone(desk: Desk) -> None:
    desk.opens("knowledge/document/?q=orientation")
    desk.page.locator("#result_list tbody th a").first.click()
    editor, passages = desk.page.locator(".editor"), desk.page.locator(".cut")
    for width, scheme in ((1440, "light"), (768, "dark"), (390, "dark")):
        desk.page.set_viewport_size({"width": width, "height": 900})
        desk.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        mine, theirs = editor.bounding_box(), passages.bounding_box()
        assert mine is not None
        assert theirs is not None
        assert (theirs["x"] > mine["x"] + mine["width"] - 1) == (width == 1440)
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= width
        desk.has_no_barrier()
        editor.scroll_into_view_if_needed()
        keep(desk.page, f"editor-{width}")
    passages.locator("summary").click()
    expect(passages.locator("ol")).to_be_hidden()


def test_an_answer_and_a_page_in_a_popup_have_it_too(desk: Desk) -> None:
    desk.opens("faqs/faq/add/")
    page = desk.page
    answer = page.get_by_role("textbox", name="Answer in English")
    answer.focus()
    page.keyboard.type("Yes.")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Come by.")
    expect(page.locator("#id_answer_en")).to_have_value("Yes.\nCome by.")
    desk.has_no_barrier()
    with page.expect_popup() as opened:
        page.locator("#add_id_sources-0-document").click()
    text = opened.value.locator(".editor-text")
    text.focus()
    opened.value.keyboard.type("# Desk")
    expect(opened.value.locator("#id_text")).to_have_value("# Desk")
