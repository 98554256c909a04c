"""Each kind of reply as a screen reader reads it, and what of it is announced, in Chromium and in Firefox."""

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.servers import wait_until
from tests.widget.conftest import Stage, Student
from tests.widget.reading import tree

__all__ = ["firefox"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
REST = [f"button: {name}" for name in ("Helpful, not pressed", "Not helpful, not pressed", "Copy the answer")]
TOOLS = ["group: This answer", *REST, "button: Answer anew", "button: Ask a person"]
PDF = "Fee regulations 2026 (PDF)"
PDF_CHIP = f"{PDF} Winter term 2025/26 page 4 read by OCR, collapsed"
CHIPS = ["button: 1 Semester contribution, collapsed", f"button: 2 {PDF_CHIP}"]
PLAIN = "button: Plain language, not pressed"
FIRST = ["text: The semester contribution is 318.40 euros", "link: Source 1: Semester contribution"]
#: By question: what is read of the reply, and what is announced once the pages have been looked through.
KINDS: dict[str, tuple[list[str], list[str]]] = {
    "abstain": (
        [
            "text: No reliable answer found",
            "text: I found nothing about this on the university's pages.",
            "text: These people can help:",
            "link: Student Service Centre (opens in a new tab)",
            "link: ssc@uni-lindental.example",
            "button: Ask a person",
            "button: Tell me when there is an answer",
            "group: These questions are answered:",
            "list of 2",
            "button: How do I get a sports course?",
            "button: When is the sports hall open?",
            *TOOLS[:-1],
        ],
        ["text: I found nothing about this on the university's pages."],
    ),
    "Is there a locker?": (
        [
            "heading 4: Answer by the University Library, checked on 3 March 2026",
            "text: Can I rent a locker in the library?",
            "text: Yes, for a deposit of 20 euros:",
            "list of 2",
            "text: one semester at a time",
            "text: at the desk on the ground floor, <b>not</b> [2] online",
            "text: The",
            "link: form (opens in a new tab)",
            "text: is there too, and no script or path.",
            "link: Open this answer as a page (opens in a new tab)",
            "heading 4: From the university's pages",
            "text: Lockers are emptied in August",
            f"link: Source 2: {PDF}",
            "region: Sources",
            "heading 4: Sources",
            "list of 2",
            "button: 1 Can I rent a locker in the library?, collapsed",
            CHIPS[1],
            PLAIN,
            *TOOLS,
        ],
        ["text: Lockers are emptied in August.", "text: Answer complete. 2 sources."],
    ),
    "clarify": (
        [
            "text: For which degree do you want to know this?",
            "group: Please choose:",
            "list of 2",
            "button: Bachelor",
            "button: Master",
        ],
        ["text: For which degree do you want to know this?", "text: Please choose: Bachelor; Master"],
    ),
    "fail": (
        [
            "text: The semester contribution is",
            "text: Something went wrong on our side. Your question is saved; please try again.",
            "button: Try again",
        ],
        ["text: Something went wrong on our side. Your question is saved; please try again."],
    ),
    "pdf": (
        [
            "text: Of the contribution, 196.20 euros are for the semester ticket",
            f"link: Source 1: {PDF}",
            "region: Sources",
            "heading 4: Sources",
            "list of 1",
            f"button: 1 {PDF_CHIP}",
            PLAIN,
            *TOOLS,
        ],
        [
            "text: Of the contribution, 196.20 euros are for the semester ticket.",
            "text: Answer complete. 1 source.",
        ],
    ),
    "please hold": (
        [
            *FIRST,
            "text: You stopped this answer.",
            "button: Show the whole answer",
            "region: Sources",
            "heading 4: Sources",
            "list of 2",
            *CHIPS,
            *TOOLS,
        ],
        ["text: The semester contribution is 318.40 euros.", "text: You stopped this answer."],
    ),
    "HELP:crisis": (
        [
            "heading 4: You are not alone",
            "list of 6: These people help:",
            "link: Call 112 Emergency number: ambulance and fire brigade",
            "link: Call 0800 111 0 111 TelefonSeelsorge (free, day and night, anonymous)",
            "link: Call 116 123 TelefonSeelsorge, another number",
        ],
        [],
    ),
}
kinds = pytest.mark.parametrize("question", KINDS)


def read_of(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return what is read of the only reply, and what was announced."""
    begin = lines.index("heading 3: Lindi") + 2
    end, log = lines.index("text: Talk to people:"), lines.index("log: Announcements")
    return lines[begin:end], lines[log + 1 :]


def is_as_expected(question: str, lines: list[str]) -> None:
    wanted, announced = KINDS[question]
    read, said = read_of(lines)
    assert read[: len(wanted)] == wanted
    assert question.startswith("HELP") or len(read) == len(wanted)
    assert said[0] == "text: Looking through the university's pages …"
    assert said[len(said) - len(announced) :] == announced
    assert [line for line in said if "complete" in line] == [line for line in announced if "complete" in line]


@kinds
def test_a_reply_of_each_kind_is_read_in_chromium(student: Student, question: str) -> None:
    student.enters()
    holds = question == "please hold"
    answer = student.asks(question, None)
    if holds:
        answer.locator('[data-test="citation"]').wait_for()
        student("stop").click()
    student.page.locator('[data-role="assistant"]:not([data-status="generating"])').last.wait_for()
    student("send").wait_for()
    is_as_expected(question, tree.lines(tree.chromium(student.page), "en"))


@kinds
def test_a_reply_of_each_kind_is_read_in_firefox(firefox: Firefox, stage: Stage, question: str) -> None:
    firefox.goes_to(stage.page)
    firefox.clicks('[data-test="launcher"]')
    firefox.clicks('[data-test="consent-agree"]')
    send = '[data-test="send"]'
    firefox.waits(lambda: bool(firefox.reads(send, "shown.length && !shown[0].disabled")), "send")
    firefox.types('[data-test="question"]', question)
    firefox.presses("Enter")
    if question == "please hold":
        firefox.sees('[data-test="citation"]')
        firefox.clicks('[data-test="stop"]')
    firefox.waits(lambda: firefox.count('[data-role="assistant"]:not([data-status="generating"])') == 1, "a reply")
    wait_until(lambda: "log: Announcements" in tree.lines(tree.firefox(firefox), "en"))
    is_as_expected(question, tree.lines(tree.firefox(firefox), "en"))
