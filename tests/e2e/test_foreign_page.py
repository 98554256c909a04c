"""The widget on a university's own website, which is another origin with a strict policy, before the real stack."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.conftest import keep, violations
from tests.e2e.university import University
from tests.fakes.llm import FakeLLM
from tests.knowledge.pdfs import Sheet, pdf
from tests.runtime.stack import Run
from tests.widget.conftest import Stage, Student

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

WIDE: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "has_touch": True}
LOOKS = {
    "wide-light-en": {**WIDE, "color_scheme": "light", "locale": "en-GB"},
    "wide-dark-de": {**WIDE, "color_scheme": "dark", "locale": "de-DE"},
    "phone-light-de": {**PHONE, "color_scheme": "light", "locale": "de-DE"},
    "phone-dark-en": {**PHONE, "color_scheme": "dark", "locale": "en-GB"},
}


def look(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("options", [LOOKS[name] for name in names], ids=names)


FEE = {"en": "How much is the semester contribution?", "de": "Wie hoch ist der Semesterbeitrag?"}
AMOUNT = {"en": "318.40", "de": "318,40"}
UNKNOWN = {"en": "Who won the football World Cup in 2014?", "de": "Wer wurde 2014 im Fußball Weltmeister?"}
SAUNA = "How much is a sauna visit?"
CONSENT = {"en": "You are talking to an artificial intelligence", "de": "künstlichen Intelligenz"}
VOYAGE = "How long does the research voyage take?"
KEY = "How much is the deposit for a lighthouse key?"
FACT = "The semester contribution is 318.40 euros [1]."
SOON = 15_000

#: A voyage that takes the ones longer than the others.
VOYAGES = [
    {
        "url": f"https://www.uni-lindental.example/{degree}-voyage",
        "title": f"Research voyage, {degree}",
        "text": f"# Research voyage\n\nThe research voyage of the programme takes {days} days.",
    }
    for degree, days in (("master", 5), ("bachelor", 3))
]
TELL_APART = """
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document
from knowledge.services.documents import save_document
for degree in ("master", "bachelor"):
    document = Document.objects.get(url=f"https://www.uni-lindental.example/{degree}-voyage")
    document.audience = [f"degree:{degree}"]
    save_document(document=document)
sync_pending()
"""
LIGHTHOUSE = "https://www.uni-lindental.example/files/lighthouse.pdf"


def lighthouse_page(heading: str, text: str) -> Any:
    def draw(sheet: Sheet) -> None:
        sheet.heading(heading, bookmark=0)
        sheet.paragraph(text)

    return draw


def load_more(run: Run, folder: Path) -> None:
    """Pages that differ by who asks, and a PDF whose second page answers KEY."""
    (folder / "voyages.jsonl").write_text("".join(f"{json.dumps(voyage)}\n" for voyage in VOYAGES))
    pages = [
        lighthouse_page("Place", "The lighthouse of the faculty stands on the northern mole."),
        lighthouse_page("Keys", "The deposit for a lighthouse key is 45 euros. It is paid back on return."),
    ]
    (folder / "lighthouse.pdf").write_bytes(pdf(*pages, title="Lighthouse regulations"))
    run.manage("import_documents", str(folder / "voyages.jsonl"), "--collection", "lindental")
    run.manage("import_files", str(folder / "lighthouse.pdf"), "--collection", "lindental", "--url", LIGHTHOUSE)
    run.does(TELL_APART)


@pytest.fixture(scope="module")
def quoting_site(quoting: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Answers are quotes."""
    load_more(quoting, tmp_path_factory.mktemp("more"))
    university = University(quoting)
    yield Stage(university.service, f"{university.origin}/")
    university.close()


@pytest.fixture(scope="module")
def writing_site(writing: Run) -> Iterator[Stage]:
    """Answers are what a language model says."""
    university = University(writing)
    yield Stage(university.service, f"{university.origin}/")
    university.close()


def visitor(browser: Browser, stage: Stage, options: dict[str, Any]) -> Iterator[Student]:
    student = Student(browser.new_context(**options), stage)
    yield student
    student.context.close()
    # A browser says that it is offline.
    expected = "ERR_INTERNET_DISCONNECTED"
    assert [text for text in student.problems if not re.search(expected, text)] == []


@pytest.fixture
def student(browser: Browser, quoting_site: Stage, options: dict[str, Any]) -> Iterator[Student]:
    yield from visitor(browser, quoting_site, options)


@pytest.fixture
def reader(browser: Browser, writing_site: Stage, llm: FakeLLM, options: dict[str, Any]) -> Iterator[Student]:
    """Provide a student for whom the model writes."""
    llm.reset()
    yield from visitor(browser, writing_site, options)
    llm.release()


def enters(student: Student, query: str = "") -> None:
    student.opens(query)
    agrees(student)


def agrees(place: Callable[[str], Locator]) -> None:
    """And waits until a question can be sent."""
    place("consent-agree").click()
    expect(place("send")).to_be_visible(timeout=SOON)
    expect(place("send")).to_be_enabled(timeout=SOON)


@look("wide-light-en", "phone-light-de")
def test_nothing_is_stored_or_asked_for_before_the_visitor_agrees(student: Student, options: dict[str, Any]) -> None:
    requests: list[str] = []
    student.page.on("request", lambda request: requests.append(request.url))
    student.page.on("websocket", lambda socket: requests.append(socket.url))
    student.opens(f"page={options['locale'][:2]}")
    expect(student("consent")).to_contain_text(CONSENT[options["locale"][:2]])
    expect(student("question")).to_be_hidden()
    student.page.wait_for_timeout(500)
    assert student.stored() == 0
    assert student.context.cookies() == []
    assert student.page.evaluate("indexedDB.databases()") == []
    own = [url for url in requests if url.startswith(student.stage.service)]
    assert [url.removeprefix(student.stage.service).partition("?")[0] for url in own] == [
        "/widget/v1.js",
        "/api/v1/assistant",
    ]
    theirs = {url.removeprefix(student.stage.page).partition("?")[0] for url in requests if url not in own}
    assert theirs <= {"", "page.css", "favicon.ico"}


@look(*LOOKS)
def test_every_screen_can_be_used_by_everybody(student: Student, options: dict[str, Any], request: Any) -> None:
    name, language = request.node.callspec.id, options["locale"][:2]
    width = options["viewport"]["width"]

    def looked_at(screen: str) -> None:
        keep(student.page, f"foreign-{name}-{screen}")
        assert violations(student.page) == [], screen
        assert student.page.evaluate("document.documentElement.scrollWidth") <= width, screen

    student.goes_to(f"page={language}")
    expect(student("launcher")).to_be_visible()
    looked_at("launcher")
    student("launcher").click()
    expect(student("panel")).to_have_attribute("lang", language)
    expect(student("consent-agree")).to_be_in_viewport(ratio=1)
    looked_at("consent")
    agrees(student)
    expect(student("welcome").locator("h3")).to_be_in_viewport(ratio=1)
    looked_at("welcome")
    answer = student.asks(FEE[language])
    expect(answer).to_contain_text(AMOUNT[language])
    # The answer is a quote, which its source does not repeat.
    expect(answer.locator('[data-test="source-quote"]', has_text=AMOUNT[language])).to_have_count(0)
    answer.locator('[data-test="source-chip"]').first.click()
    expect(answer.locator('[data-test="source-link"]').first).to_be_visible()
    looked_at("answer")
    answer.locator('[data-test="thumbs-down"]').click()
    student("reason-other").check()
    looked_at("feedback")
    student("close-feedback").click()
    abstained = student.asks(UNKNOWN[language], "abstained")
    expect(abstained.locator('[data-test="contact"]')).to_contain_text("Student Service Centre")
    looked_at("abstention")
    student.asks(VOYAGE, "clarifying")
    looked_at("choices")
    student("choice").first.click()
    expect(student.answers.nth(3)).to_have_attribute("data-status", "complete", timeout=SOON)
    expect(student("rating")).to_be_visible()
    looked_at("rating")
    student("show-conversations").click()
    expect(student("conversation")).to_have_count(1)
    looked_at("conversations")
    student("delete").click()
    looked_at("confirmation")
    student("settings").click()
    looked_at("settings")


@look("phone-light-de")
def test_a_suggestion_is_asked_when_it_is_pressed(student: Student, options: dict[str, Any]) -> None:
    enters(student, "page=de")
    student.page.locator('[data-test="suggestion"]', has_text=FEE["de"]).click()
    expect(student.answers).to_have_attribute("data-status", "complete", timeout=SOON)
    expect(student.answers).to_contain_text(AMOUNT["de"])
    expect(student("suggestions")).to_be_hidden()


@look("phone-dark-en")
def test_a_source_shows_its_words_and_opens_a_pdf_at_its_page(student: Student, options: dict[str, Any]) -> None:
    enters(student)
    card = student.asks(KEY).locator('[data-test="source"]').first
    expect(card).to_contain_text("Lighthouse regulations")
    expect(card).to_contain_text("page 2")
    expect(student.answers).to_contain_text("The deposit for a lighthouse key is 45 euros.")
    card.locator('[data-test="source-chip"]').click()
    expect(card.locator('[data-test="source-link"]')).to_be_in_viewport()
    expect(card.locator('[data-test="source-link"]')).to_have_attribute("href", f"{LIGHTHOUSE}#page=2")
    keep(student.page, "foreign-pdf")


@look("wide-dark-de")
def test_what_cannot_be_answered_leads_to_people_and_to_what_can(student: Student, options: dict[str, Any]) -> None:
    enters(student, "page=en")
    answer = student.asks(SAUNA, "abstained")
    expect(answer.locator('[data-test="source"]')).to_have_count(0)
    mail = answer.locator('[data-test="contact"] a[href^="mailto:"]')
    expect(mail).to_have_attribute("href", "mailto:students@uni-lindental.example")
    related = answer.locator('[data-test="related-question"]').first
    question = related.inner_text()
    related.click()
    expect(student.page.locator('[data-test="question-text"]').last).to_have_text(question)
    expect(student.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
    assert violations(student.page) == []


@look("phone-light-de")
def test_a_choice_answers_what_is_asked_back(student: Student, options: dict[str, Any]) -> None:
    enters(student)
    student.asks(VOYAGE, "clarifying")
    student.page.locator('[data-test="choice"]', has_text="master").click()
    expect(student.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
    expect(student.answers.nth(1)).to_contain_text("5 days")
    expect(student.answers.nth(1)).not_to_contain_text("3 days")
    expect(student("choice")).to_have_count(0)


@look("wide-light-en")
def test_an_answer_is_copied_with_its_sources(student: Student, options: dict[str, Any]) -> None:
    student.context.grant_permissions(["clipboard-read", "clipboard-write"])
    enters(student)
    student.asks(KEY).locator('[data-test="copy"]').click()
    expect(student("live")).to_contain_text("Copied.")
    copied = student.page.evaluate("navigator.clipboard.readText()")
    assert "The deposit for a lighthouse key is 45 euros.” [1]" in copied
    assert f"[1] Lighthouse regulations – {LIGHTHOUSE}#page=2" in copied


@look("phone-dark-en")
def test_thumbs_with_reasons_and_a_rating_are_kept(student: Student, options: dict[str, Any]) -> None:
    enters(student)
    student.asks(KEY).locator('[data-test="thumbs-down"]').click()
    student("reason-outdated").check()
    student("reason-other").check()
    student("feedback-comment").fill("The deposit was raised.")
    student("send-feedback").click()
    expect(student("live")).to_contain_text("Thank you for your feedback.")
    expect(student("rating")).to_be_hidden()
    student.asks(FEE["en"])
    student.asks("How many books can I borrow at once?")
    student("star-4").click()
    expect(student("rating-thanks")).to_contain_text("4 of 5")
    student.opens()
    expect(student.answers).to_have_count(3)
    expect(student.answers.first.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "true")
    expect(student("rating")).to_be_hidden()


@look("phone-light-de")
def test_typed_text_outlives_a_reload_and_a_broken_line(student: Student, options: dict[str, Any]) -> None:
    enters(student, "page=de")
    student("question").fill(KEY)
    student.opens("page=de")
    expect(student("question")).to_have_value(KEY)
    expect(student("send")).to_be_enabled(timeout=SOON)
    student.context.set_offline(True)
    expect(student("status")).to_contain_text("Sie sind offline")
    student("question").press("Enter")
    expect(student("question")).to_have_value(KEY)
    keep(student.page, "foreign-offline")
    assert violations(student.page) == []
    student.context.set_offline(False)
    expect(student("status")).to_be_hidden(timeout=20_000)
    student("send").click()
    expect(student.answers).to_have_attribute("data-status", "complete", timeout=SOON)
    expect(student("question")).to_have_value("")


@look("phone-dark-en")
def test_conversations_are_listed_renamed_opened_and_deleted(student: Student, options: dict[str, Any]) -> None:
    enters(student)
    student.asks(FEE["en"])
    student("new-conversation").click()
    expect(student("welcome")).to_be_visible()
    student.asks(KEY)
    student("show-conversations").click()
    expect(student("open-conversation")).to_contain_text([KEY, FEE["en"]])
    student("rename").nth(1).click()
    student("title").fill("Fees")
    student("save-title").click()
    student("open-conversation").nth(1).click()
    expect(student.answers).to_contain_text([AMOUNT["en"]])
    student("show-conversations").click()
    expect(student("open-conversation")).to_contain_text([KEY, "Fees"])
    student("delete").nth(1).click()
    student("confirm").click()
    expect(student("conversation")).to_have_count(1)
    student("pane-conversations").locator('[data-test="back"]').click()
    expect(student("welcome")).to_be_visible()
    student.opens()
    student("show-conversations").click()
    expect(student("open-conversation")).to_contain_text([KEY])


@look("wide-dark-de")
def test_my_data_is_downloaded_and_erased(student: Student, options: dict[str, Any], tmp_path: Path) -> None:
    enters(student, "page=de")
    student.asks(FEE["de"])
    token = student.page.evaluate(
        "JSON.parse(Object.entries(localStorage).find(([key]) => key.endsWith('.session'))[1]).token"
    )
    student("settings").click()
    with student.page.expect_download() as download:
        student("download").click()
    download.value.save_as(tmp_path / "my-data.json")
    assert FEE["de"] in json.dumps(json.loads((tmp_path / "my-data.json").read_text()), ensure_ascii=False)
    student("erase").click()
    student("confirm").click()
    expect(student("consent")).to_be_visible()
    assert student.stored() == 0
    headers = {"Authorization": f"Bearer {token}"}
    left = student.context.request.get(f"{student.stage.service}/api/v1/conversations", headers=headers)
    assert left.status == 401 or left.json() == []


@look("wide-light-en")
def test_two_tabs_are_live_and_one_erases_for_both(student: Student, options: dict[str, Any]) -> None:
    enters(student)
    student.asks(FEE["en"])
    other = Student(student.context, student.stage).opens()
    expect(other.answers).to_contain_text([AMOUNT["en"]])
    student.asks(KEY)
    expect(other.answers.nth(1)).to_have_attribute("data-status", "complete")
    expect(other.answers.nth(1)).to_contain_text("45 euros")
    other("settings").click()
    other("erase").click()
    other("confirm").click()
    expect(student("consent")).to_be_visible()
    assert student.stored() == 0


@look("wide-dark-de")
def test_the_keyboard_alone_is_enough(student: Student, options: dict[str, Any]) -> None:
    student.goes_to("page=de")
    expect(student("launcher")).to_be_visible()
    keys = student.page.keyboard

    def tab_to(name: str) -> None:
        for _ in range(30):
            keys.press("Tab")
            if student(name).first.evaluate("e => e.getRootNode().activeElement === e"):
                return
        pytest.fail(f"{name} cannot be reached")

    tab_to("launcher")
    keys.press("Enter")
    tab_to("consent-agree")
    keys.press("Enter")
    expect(student("question")).to_be_focused()
    expect(student("send")).to_be_enabled(timeout=SOON)
    keys.type(FEE["de"])
    keys.press("Enter")
    expect(student.answers).to_have_attribute("data-status", "complete", timeout=SOON)
    keys.press("Shift+Tab")
    tab_to("question")
    student("panel").evaluate("panel => panel.querySelector('[data-test=settings]').focus()")
    keys.press("Enter")
    expect(student("pane-settings")).to_be_visible()
    keys.press("Escape")
    expect(student("settings")).to_be_focused()
    keys.press("Escape")
    expect(student("panel")).to_be_hidden()
    expect(student("launcher")).to_be_focused()


@look("wide-dark-de")
def test_the_language_is_the_visitors_else_the_tags_else_the_pages_else_the_browsers(
    student: Student, options: dict[str, Any]
) -> None:
    for query, language in (("", "de"), ("page=en", "en"), ("page=en&lang=de", "de")):
        student.opens(query)
        expect(student("panel")).to_have_attribute("lang", language)
    enters(student, "page=en&lang=de")
    student("settings").click()
    student("language-en").check()
    expect(student("pane-settings")).to_contain_text("Your data")
    student.opens("page=de&lang=de")
    expect(student("panel")).to_have_attribute("lang", "en")


@look("phone-dark-en")
def test_the_page_commands_the_widget_also_before_it_is_there(student: Student, options: dict[str, Any]) -> None:
    student.page.add_init_script(
        "window.heard=[];for(const n of ['ready','open','close'])addEventListener('marcelchat:'+n,()=>heard.push(n));"
        "window.MarcelChat=window.MarcelChat||function(){(MarcelChat.q=MarcelChat.q||[]).push(arguments)};"
        "MarcelChat('open');MarcelChat('setLocale','de')"
    )
    student.goes_to()
    expect(student("panel")).to_have_attribute("lang", "de")
    agrees(student)
    student.asks(FEE["de"])
    student.page.evaluate("MarcelChat('theme','light')")
    expect(student.page.locator(".root")).to_have_attribute("data-scheme", "light")
    student.page.evaluate("MarcelChat('reset')")
    expect(student("welcome")).to_be_visible()
    student.page.evaluate("MarcelChat('close')")
    expect(student("panel")).to_be_hidden()
    assert student.page.evaluate("heard.slice().sort()") == ["close", "open", "ready"]


@look("wide-light-en", "phone-light-de")
def test_it_fills_a_place_in_the_page(student: Student, options: dict[str, Any], request: Any) -> None:
    language = options["locale"][:2]
    student.goes_to(f"mode=inline&page={language}")
    agrees(student)
    student.asks(FEE[language])
    expect(student("launcher")).to_have_count(0)
    box = student("panel").bounding_box()
    assert box == {"x": 0, "y": 0, **options["viewport"]}
    keep(student.page, f"foreign-inline-{request.node.callspec.id}")
    assert violations(student.page) == []


@look("wide-dark-de", "phone-light-de")
def test_a_page_that_allows_no_trusted_types_has_the_widget_itself(student: Student, options: dict[str, Any]) -> None:
    enters(student, "small&page=de")
    answer = student.asks(FEE["de"])
    expect(answer).to_contain_text(AMOUNT["de"])
    expect(student.page.locator("iframe")).to_have_count(0)
    assert student.problems == []


@look("wide-dark-de", "phone-light-de")
def test_a_frame_does_it_where_it_is_wanted(student: Student, options: dict[str, Any], request: Any) -> None:
    student.goes_to("frame&page=de")
    student("launcher").click()
    inside = student.page.frame_locator("iframe")

    def part(name: str) -> Locator:
        return inside.locator(f'[data-test="{name}"]')

    agrees(part)
    # Chromium loses what is typed for a test into a frame that another process draws.
    part("suggestion").first.click()
    expect(inside.locator('[data-role="assistant"]')).to_have_attribute("data-status", "complete", timeout=SOON)
    keep(student.page, f"foreign-{request.node.callspec.id}")
    student.page.evaluate("MarcelChat('setLocale', 'en')")
    expect(part("panel")).to_have_attribute("lang", "en")
    assert violations(student.page) == []


@look("phone-light-de")
def test_a_streamed_answer_can_be_stopped(reader: Student, llm: FakeLLM, options: dict[str, Any]) -> None:
    llm.says_words(f"{FACT} It is made of more parts.", hold_before=11)
    enters(reader, "page=de")
    answer = reader.asks(FEE["en"], None)
    expect(answer).to_contain_text("318.40 euros", timeout=SOON)
    keep(reader.page, "foreign-streaming")
    assert violations(reader.page) == []
    reader("stop").click()
    expect(answer).to_have_attribute("data-status", "stopped", timeout=SOON)
    expect(answer).to_contain_text("Sie haben diese Antwort angehalten")
    expect(answer).to_contain_text("318.40 euros")


@look("wide-light-en")
def test_an_answer_that_broke_off_is_tried_again_and_a_question_is_changed(
    reader: Student, llm: FakeLLM, options: dict[str, Any]
) -> None:
    llm.says(FACT, " It is made", end="cut")
    enters(reader, "page=en")
    failed = reader.asks(FEE["en"], "failed")
    expect(failed.locator('[data-test="message-error"]')).to_contain_text("The answer broke off")
    expect(failed).to_contain_text("318.40 euros")
    keep(reader.page, "foreign-failure")
    assert violations(reader.page) == []
    llm.says(FACT)
    failed.locator('[data-test="retry"]').click()
    expect(reader.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
    reader("edit").last.click()
    expect(reader("question")).to_have_value(FEE["en"])
    expect(reader("question")).to_be_focused()
    reader("question").fill(f"{FEE['en']} Please be short.")
    reader("question").press("Enter")
    # The changed question takes the place of the one before, with its answer.
    expect(reader.page.locator('[data-test="question-text"]').last).to_have_text(f"{FEE['en']} Please be short.")
    expect(reader.answers).to_have_count(2)
    expect(reader.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
