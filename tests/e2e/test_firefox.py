"""The widget in Firefox, on a university's own website with a strict policy, before the real stack."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.e2e.test_foreign_page import AMOUNT, CONSENT, FEE, UNKNOWN
from tests.e2e.university import University
from tests.runtime.stack import Run

__all__ = ["firefox"]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(400),
    pytest.mark.parametrize("language", ["en", "de"]),
]
LOCKERS = {"en": "How much is the rent of a music locker?", "de": "Wie hoch ist die Miete für ein Musikschließfach?"}
TABLES = {
    "en": "# Music lockers\n\nThe rent of a music locker:\n\n| Size | Rent |\n|---|---|\n| small | 7 euros |\n"
    "| large | 13 euros |\n",
    "de": "# Musikschließfächer\n\nDie Miete für ein Musikschließfach:\n\n| Größe | Miete |\n|---|---|\n"
    "| klein | 7 Euro |\n| groß | 13 Euro |\n",
}
ANSWER = '[data-role="assistant"]'


def named(name: str, within: str = "") -> str:
    return f'{within} [data-test="{name}"]'.strip()


@pytest.fixture(scope="module")
def university(quoting: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[University]:
    pages = tmp_path_factory.mktemp("lockers") / "lockers.jsonl"
    pages.write_text(
        "".join(
            json.dumps(
                {
                    "url": f"https://www.uni-lindental.example/{name}/lockers",
                    "title": text[2:].split("\n")[0],
                    "text": text,
                    "language": name,
                }
            )
            + "\n"
            for name, text in TABLES.items()
        )
    )
    quoting.manage("import_documents", str(pages), "--collection", "lindental")
    site = University(quoting)
    yield site
    site.close()


def opens(firefox: Firefox, university: University, language: str) -> None:
    firefox.goes_to(f"{university.origin}/?page={language}")
    firefox.clicks(named("launcher"))


def enters(firefox: Firefox, university: University, language: str) -> None:
    opens(firefox, university, language)
    firefox.clicks(named("consent-agree"))
    firefox.waits(lambda: bool(firefox.reads(named("send"), "shown.length && !shown[0].disabled")), "send")


def asks(firefox: Firefox, question: str, status: str = "complete") -> None:
    finished = f'{ANSWER}[data-status="{status}"]'
    before = firefox.count(finished)
    firefox.types(named("question"), question)
    firefox.presses("Enter")
    firefox.waits(lambda: firefox.count(finished) > before, f"{status}: {question}")


def stored(firefox: Firefox) -> int:
    return int(firefox.script("return localStorage.length + sessionStorage.length"))


def test_nothing_is_stored_before_the_visitor_agrees(firefox: Firefox, university: University, language: str) -> None:
    opens(firefox, university, language)
    firefox.sees(named("consent"), CONSENT[language])
    assert firefox.count(named("question")) == 0
    assert stored(firefox) == 0
    firefox.clicks(named("consent-agree"))
    firefox.sees(named("question"))
    firefox.waits(lambda: stored(firefox) > 0, "stored")


def test_a_source_opens_in_place(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, FEE[language])
    firefox.sees(ANSWER, AMOUNT[language])
    assert firefox.count(named("source-link")) == 0
    firefox.clicks(named("source-chip"))
    firefox.sees(named("source-link"))
    assert firefox.reads(named("source-link"), "shown[0].href").startswith("https://www.uni-lindental.example/")
    assert firefox.script("return location.origin") == university.origin


def test_a_table_has_its_rows(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, LOCKERS[language])
    cells = firefox.reads(f"{ANSWER} table td", "shown.map(e => e.innerText.trim())")
    assert [cell.split()[0] for cell in cells] == {
        "en": ["small", "7", "large", "13"],
        "de": ["klein", "7", "groß", "13"],
    }[language]


def test_what_cannot_be_answered_is_handed_to_an_office(
    firefox: Firefox, university: University, language: str
) -> None:
    enters(firefox, university, language)
    asks(firefox, UNKNOWN[language], "abstained")
    firefox.sees(named("contact", ANSWER), "Student Service Centre" if language == "en" else "")
    assert firefox.count(named("source")) == 0
    firefox.clicks(named("ask-person"))
    firefox.sees(named("office-facts"))
    assert firefox.reads(named("handover-question"), "shown[0].value") == UNKNOWN[language]
    firefox.clicks(named("send-to-office"))
    firefox.sees(named("case"))
    assert firefox.reads(named("case"), "shown[0].dataset.state") == "open"


def test_a_thumbs_down_has_reasons_and_is_undone(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, FEE[language])
    down = named("thumbs-down")

    def pressed() -> str:
        return str(firefox.reads(down, "shown[0].getAttribute('aria-pressed')"))

    firefox.clicks(down)
    firefox.waits(lambda: pressed() == "true", "pressed")
    firefox.clicks(named("reason-outdated"))
    firefox.clicks(named("undo-feedback"))
    firefox.waits(lambda: pressed() == "false", "undone")


def test_the_language_is_changed_in_the_settings(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    other = {"en": "de", "de": "en"}[language]
    firefox.clicks(named("settings"))
    firefox.clicks(named(f"language-{other}"))
    firefox.sees(named("pane-settings"), {"en": "Your data", "de": "Ihre Daten"}[other])
    opens(firefox, university, language)
    firefox.waits(lambda: firefox.reads(named("panel"), "shown[0]?.lang") == other, "language kept")


def test_an_earlier_conversation_is_opened(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, FEE[language])
    firefox.clicks(named("new-conversation"))
    firefox.sees(named("welcome"))
    firefox.clicks(named("show-conversations"))
    firefox.sees(named("open-conversation"), FEE[language])
    firefox.clicks(named("open-conversation"))
    firefox.sees(ANSWER, AMOUNT[language])


def test_everything_is_erased(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, FEE[language])
    firefox.clicks(named("settings"))
    firefox.clicks(named("erase"))
    firefox.clicks(named("confirm"))
    firefox.sees(named("consent"))
    assert stored(firefox) == 0


def test_a_conversation_outlives_closing_and_a_reload(firefox: Firefox, university: University, language: str) -> None:
    enters(firefox, university, language)
    asks(firefox, FEE[language])
    firefox.clicks(named("close"))
    firefox.misses(named("panel"))
    firefox.clicks(named("launcher"))
    firefox.sees(ANSWER, AMOUNT[language])
    opens(firefox, university, language)
    firefox.sees(ANSWER, AMOUNT[language])


def test_the_keyboard_alone_is_enough(firefox: Firefox, university: University, language: str) -> None:
    def tab_to(name: str, *held: str) -> None:
        """Press Tab until it has the focus."""
        passed = []
        for _ in range(40):
            firefox.presses(*held, "Tab")
            if firefox.focused(named(name)):
                return
            passed.append(firefox.reads("*", "shown.filter(e => e.matches(':focus')).at(-1)?.outerHTML.slice(0, 160)"))
        pytest.fail(f"{name} cannot be reached, but {passed}")

    firefox.goes_to(f"{university.origin}/?page={language}")
    firefox.sees(named("launcher"))
    tab_to("launcher")
    firefox.presses("Enter")
    firefox.sees(named("consent-agree"))
    tab_to("consent-agree")
    firefox.presses("Enter")
    firefox.waits(lambda: firefox.focused(named("question")), "question focused")
    firefox.waits(lambda: bool(firefox.reads(named("send"), "shown.length && !shown[0].disabled")), "send")
    for letter in FEE[language]:
        firefox.presses(letter)
    firefox.presses("Enter")
    firefox.sees(f'{ANSWER}[data-status="complete"]', AMOUNT[language])
    tab_to("settings", "Shift")
    firefox.presses("Enter")
    firefox.sees(named("pane-settings"))
    firefox.presses("Escape")
    firefox.waits(lambda: firefox.focused(named("settings")), "settings focused")
    firefox.presses("Escape")
    firefox.misses(named("panel"))
    firefox.waits(lambda: firefox.focused(named("launcher")), "launcher focused")
