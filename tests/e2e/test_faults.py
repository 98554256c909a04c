"""Real parts that die in the middle of an answer, seen from a student's browser: two web processes behind one address,
a Valkey that is killed and comes back, a browser that is closed."""

import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.balancer import Balancer
from tests.e2e.conftest import keep, violations
from tests.fakes.llm import FakeLLM
from tests.runtime.stack import Run, Web
from tests.runtime.valkey import Valkey
from tests.widget.conftest import Stage, Student

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
FEE = "How much is the semester contribution?"
NEXT = "How many books can I borrow at once?"
FACT = "The semester contribution is 318.40 euros [1]."
#: 42 words.
TEXT = " ".join([FACT] * 6)
SOON = 15_000


@dataclass
class Cluster:
    """Two web processes behind one address, on one PostgreSQL and one Valkey."""

    webs: dict[int, Web]
    balancer: Balancer
    valkey: Valkey

    def visited_by(self, browser: Browser, **options: object) -> Student:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB", **options)  # type: ignore[arg-type]
        address = f"http://127.0.0.1:{self.balancer.port}"
        return Student(context, Stage(address, f"{address}/"))

    def of_latest_socket(self) -> Web:
        """Return the process that writes what is asked over the socket that was opened last."""
        return self.webs[self.balancer.websockets[-1]]


@pytest.fixture(scope="module")
def cluster(llm: FakeLLM) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-e2e-"))
    folder.chmod(0o711)
    valkey = Valkey(folder / "own-valkey")
    model = {"LLM_BASE_URL": llm.base_url, "LLM_MODEL": "fake", "LLM_FIRST_TOKEN_SECONDS": "20"}
    run = Run(folder, QUESTIONS_PER_MINUTE="1000", REDIS_URL=valkey.url, **model)
    webs = {web.port: web for web in (Web(run), Web(run))}
    balancer = Balancer(list(webs))
    yield Cluster(webs, balancer, valkey)
    balancer.close()
    for web in webs.values():
        web.kill()
    run.end()
    valkey.kill()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def student(browser: Browser, cluster: Cluster) -> Iterator[Student]:
    visitor = cluster.visited_by(browser)
    yield visitor
    visitor.context.close()


def enters(student: Student) -> None:
    student.goes_to()
    student("consent-agree").click()
    expect(student("send")).to_be_visible()
    expect(student("send")).to_be_enabled(timeout=SOON)


def words(text: str) -> list[str]:
    """Without the numbers of sources."""
    return re.findall(r"[a-z]+|\d+\.\d+", text, re.IGNORECASE)


def said(answer: Locator) -> list[str]:
    return words(answer.locator('[data-test="answer-text"]').inner_text())


def begins(answer: Locator, *, sentences: int) -> None:
    """Wait until it has so many sentences."""
    numbers = answer.locator('[data-test="citation"]')
    expect(numbers.nth(sentences - 1)).to_be_visible(timeout=SOON)


def test_a_web_process_killed_in_the_middle_of_an_answer_is_made_up_for_by_the_other(
    student: Student, cluster: Cluster, llm: FakeLLM
) -> None:
    llm.reset()
    llm.says_words(TEXT, hold_before=18)
    enters(student)
    answer = student.asks(FEE, None)
    begins(answer, sentences=2)
    streaming = cluster.of_latest_socket()
    watching = Student(student.context, student.stage).goes_to()
    begins(watching.answers, sentences=2)
    streaming.kill()
    killed = time.monotonic()
    try:
        expect(answer).to_have_attribute("data-status", "failed", timeout=SOON)
        print(f"\nsaid that the answer was interrupted {time.monotonic() - killed:.1f} s after the kill")
        expect(watching.answers).to_have_attribute("data-status", "failed", timeout=SOON)
        for tab in (student, watching):
            expect(tab.answers).to_contain_text("318.40 euros")
            expect(tab.answers).to_contain_text("interrupted. What had been written until then is shown.")
            shown = said(tab.answers)
            assert len(shown) >= 12
            assert shown == words(TEXT)[: len(shown)]
        keep(student.page, "fault-web-killed")
        assert violations(student.page) == []
        llm.reset()
        llm.says(FACT)
        answer.locator('[data-test="retry"]').click()
        expect(student.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
        expect(watching.answers.nth(1)).to_have_attribute("data-status", "complete", timeout=SOON)
        student.goes_to()
        expect(student.answers).to_have_count(2)
        expect(student.answers.first).to_have_attribute("data-status", "failed")
    finally:
        streaming.start()


def test_an_answer_is_whole_when_the_browser_that_was_closed_returns(
    browser: Browser, student: Student, cluster: Cluster, llm: FakeLLM
) -> None:
    llm.reset()
    llm.says_words(TEXT, hold_before=18)
    enters(student)
    begins(student.asks(FEE, None), sentences=1)
    state = student.context.storage_state()
    student.context.close()
    llm.release()
    back = cluster.visited_by(browser, storage_state=state).goes_to()
    expect(back.answers).to_have_attribute("data-status", "complete", timeout=SOON)
    assert said(back.answers) == words(TEXT)
    expect(back("source").first).to_contain_text("Semester contribution")
    back.context.close()


def test_a_valkey_that_is_killed_in_the_middle_of_an_answer_costs_no_word(
    student: Student, cluster: Cluster, llm: FakeLLM
) -> None:
    llm.reset()
    llm.says_words(TEXT, between=0.15)
    enters(student)
    answer = student.asks(FEE, None)
    begins(answer, sentences=1)
    cluster.valkey.kill()
    student.page.wait_for_timeout(1000)
    cluster.valkey.start()
    restarted = time.monotonic()
    expect(answer).to_have_attribute("data-status", "complete", timeout=SOON)
    assert said(answer) == words(TEXT)
    expect(answer.locator('[data-test="source"]').first).to_contain_text("Semester contribution")
    llm.says("You can borrow 50 items at once [1].")
    assert student.asks(NEXT).is_visible()
    print(f"\nthe answer was whole and the next one given {time.monotonic() - restarted:.1f} s after the restart")
    student.goes_to()
    expect(student.answers).to_have_count(2)
    expect(student.page.locator('[data-test="question-text"]')).to_have_text([FEE, NEXT])
    assert said(student.answers.first) == words(TEXT)


def test_a_question_is_answered_at_once_when_a_valkey_has_returned(
    student: Student, cluster: Cluster, llm: FakeLLM
) -> None:
    llm.reset()
    llm.says(FACT)
    enters(student)
    student.asks(FEE)
    cluster.valkey.kill()
    student("question").fill(NEXT)
    student("question").press("Enter")
    unsent = student("message-error")
    expect(unsent).to_contain_text("The service is interrupted", timeout=SOON)
    expect(student("question")).to_have_value(NEXT)
    cluster.valkey.start()
    restarted = time.monotonic()
    llm.says("You can borrow 50 items at once [1].")
    student("send").click()
    expect(student.answers.nth(1)).to_have_attribute("data-status", re.compile("complete|abstained"), timeout=SOON)
    print(f"\nanswered {time.monotonic() - restarted:.1f} s after the restart")
    expect(student.page.locator('[data-test="question-text"]')).to_have_text([FEE, NEXT])
