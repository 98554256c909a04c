"""A student and a member of staff, in Chromium, before the real stack."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import keep, violations
from tests.fakes.llm import FakeLLM
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
FEE = "How much is the semester contribution?"
LONG = 60_000


def test_id(page: Page | Locator, name: str) -> Locator:
    return page.locator(f'[data-test="{name}"]')


test_id.__test__ = False  # type: ignore[attr-defined]


def enter(page: Page, run: Run) -> None:
    page.goto(f"http://127.0.0.1:{run.port}/")
    test_id(page, "consent-agree").click()
    expect(test_id(page, "question")).to_be_enabled()


def ask(page: Page, question: str) -> Locator:
    """Asks, and gives the answer that is coming."""
    before = page.locator('[data-test="message"][data-role="assistant"]').count()
    test_id(page, "question").fill(question)
    test_id(page, "send").click()
    answer = page.locator('[data-test="message"][data-role="assistant"]').nth(before)
    expect(answer).to_be_visible(timeout=LONG)
    return answer


def finished(answer: Locator, status: str = "complete") -> Locator:
    expect(answer).to_have_attribute("data-status", status, timeout=LONG)
    return answer


def test_nothing_is_stored_or_asked_for_before_the_visitor_agrees(page: Page, quoting: Run) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"http://127.0.0.1:{quoting.port}/")
    expect(test_id(page, "consent")).to_be_visible()
    expect(test_id(page, "question")).to_be_hidden()
    keep(page, "consent")
    assert page.context.cookies() == []
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    # What the assistant is called, and nothing that knows of the visitor.
    assert {url.partition("/api/v1/")[2].split("?")[0] for url in requests if "/api/" in url} == {"assistant"}
    assert not [url for url in requests if url.startswith("ws")]
    assert all(url.startswith(f"http://127.0.0.1:{quoting.port}/") for url in requests)


def test_a_student_asks_and_reads_the_answer_with_its_sources(page: Page, quoting: Run) -> None:
    enter(page, quoting)
    answer = finished(ask(page, FEE))
    expect(answer).to_contain_text("318.40")
    expect(test_id(answer, "quoting-notice")).to_be_visible()
    source = test_id(answer, "source").first
    expect(source).to_contain_text("Semester contribution")
    link = test_id(source, "source-link").get_attribute("href")
    assert (link or "").startswith("https://www.uni-lindental.example/")
    test_id(answer, "thumbs-up").click()
    expect(test_id(answer, "thumbs-up")).to_have_attribute("aria-pressed", "true")
    keep(page, "answer")
    assert violations(page) == []

    page.reload()
    again = page.locator('[data-test="message"][data-role="assistant"]').first
    expect(again).to_contain_text("318.40")
    expect(test_id(again, "source").first).to_contain_text("Semester contribution")
    expect(test_id(again, "thumbs-up")).to_have_attribute("aria-pressed", "true")


def test_a_student_in_need_sees_whom_to_call_and_may_say_that_it_was_a_question(page: Page, quoting: Run) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    enter(page, quoting)
    card = finished(ask(page, "I've been thinking about suicide"))
    assert "tel:112" in [link.get_attribute("href") for link in card.locator('a[href^="tel:"]').all()]
    expect(test_id(card, "abstained")).to_have_count(0)
    expect(test_id(card, "thumbs-up")).to_have_count(0)
    keep(page, "help")
    assert violations(page) == []
    test_id(page, "ask-anyway").click()
    answer = page.locator('[data-test="message"][data-role="assistant"]').nth(1)
    expect(answer).to_have_attribute("data-status", re.compile("complete|abstained"), timeout=LONG)
    expect(answer.locator('a[href^="tel:"]')).to_have_count(0)


def test_a_question_that_no_page_answers_is_handed_on(page: Page, quoting: Run) -> None:
    enter(page, quoting)
    answer = finished(ask(page, "Who won the football World Cup in 2014?"), "abstained")
    expect(test_id(answer, "contact")).to_contain_text("Student Service Centre")
    expect(test_id(answer, "source")).to_have_count(0)
    keep(page, "abstention")


def test_two_tabs_show_the_same_conversation(page: Page, quoting: Run) -> None:
    enter(page, quoting)
    finished(ask(page, FEE))
    other = page.context.new_page()
    other.goto(page.url)
    expect(test_id(other, "messages")).to_contain_text("318.40")
    finished(ask(page, "How many books can I borrow at once?"))
    expect(test_id(other, "messages")).to_contain_text("How many books can I borrow at once?")
    expect(test_id(other, "messages")).to_contain_text("50 items")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_in_german(browser: Browser, quoting: Run, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="de-DE", color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{quoting.port}/")
    expect(test_id(page, "consent-agree")).to_contain_text("Zustimmen")
    keep(page, f"phone-consent-{scheme}")
    enter(page, quoting)
    assert violations(page) == []
    answer = finished(ask(page, "Was kostet eine verspätete Rückmeldung?"))
    expect(test_id(answer, "source").first).to_be_visible()
    keep(page, f"phone-answer-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []
    context.close()


def test_a_streamed_answer_can_be_stopped_and_keeps_what_was_said(page: Page, writing: Run, llm: FakeLLM) -> None:
    llm.reset()
    llm.says("The contribution ", "is €318.40 per semester [1]. ", "It is made of ", "more parts.", hold_before=3)
    enter(page, writing)
    answer = ask(page, FEE)
    expect(answer).to_contain_text("The contribution is €318.40 per semester", timeout=LONG)
    keep(page, "streaming")
    test_id(page, "stop").click()
    finished(answer, "stopped")
    expect(answer).to_contain_text("The contribution is €318.40 per semester")
    expect(test_id(page, "send")).to_be_visible()
    llm.release()


def test_a_model_that_is_down_gives_quotes_that_say_so(page: Page, writing: Run, llm: FakeLLM) -> None:
    llm.reset()
    llm.fails(500)
    enter(page, writing)
    answer = finished(ask(page, FEE))
    expect(answer).to_contain_text("318.40")
    expect(test_id(answer, "model-unavailable")).to_be_visible()


def test_what_a_model_or_a_student_writes_is_never_markup(page: Page, writing: Run, llm: FakeLLM) -> None:
    llm.reset()
    evil = '<img src=x onerror="document.title=1"><script>document.title=2</script> <form action=//x>[go](javascript:x)'
    llm.says(evil + " 318.40 euros [1]")
    enter(page, writing)
    finished(ask(page, f"{FEE} <b onmouseover=alert(1)>now</b>"))  # the server leaves such a sentence out
    expect(test_id(page, "question-text")).to_contain_text("<b onmouseover=alert(1)>now</b>")
    assert test_id(page, "messages").locator("img, script, form[action], b").all_inner_texts() == []
    assert re.match(r"Lindi", page.title())


def test_a_changed_faq_changes_the_sources_of_the_next_answer(page: Page, browser: Browser, quoting: Run) -> None:
    question = "Where do I get my Lindwurm badge?"
    office = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB").new_page()
    office.goto(f"http://127.0.0.1:{quoting.port}/admin/login/?next=/admin/faqs/faq/add/")
    office.get_by_label("Username").fill("admin")
    office.get_by_label("Password").fill(quoting.password)
    office.get_by_role("button", name="Log in").click()

    def save() -> None:
        office.get_by_role("button", name="Save and continue editing").click()
        expect(office.locator(".messagelist .success")).to_be_visible(timeout=30_000)

    def answers_from(title: str) -> None:
        """Ask until a worker has seen the change, which takes a second where nothing else is to be done.

        Two stacks and their browsers on two cores have kept it waiting for half a minute.
        """
        for _attempt in range(40):
            page.wait_for_timeout(1000)
            reply = finished(ask(page, question))
            if title in test_id(reply, "source").first.inner_text():
                return
        expect(test_id(reply, "source").first).to_contain_text(title)

    def link(title: str) -> None:
        """Make the FAQ's only source the document of that title."""
        choice = office.locator("#sources-group .form-row.has_original, #sources-group .dynamic-sources").first
        choice.locator(".select2-selection").click()
        office.locator(".select2-search__field").last.fill(title)
        # With its capital letters: another page is called “Lockers in the library”.
        office.locator(".select2-results__option", has_text=re.compile(re.escape(title))).first.click()

    office.get_by_label("Question:", exact=True).fill(question)
    office.get_by_label("Status:").select_option("published")
    link("Library")
    keep(office, "admin-faq")
    save()
    enter(page, quoting)
    answers_from("Library")

    link("Student housing")
    save()
    answers_from("Student housing")
    office.context.close()
