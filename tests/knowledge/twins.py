"""A university's site whose pages differ in figures alone: one for each term, year, intake or regulations."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.knowledge.site import Site, page

BASE = (
    '<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title} - University of Musterstadt'
    '</title>{head}</head><body><header><nav><a href="/">Home</a></nav></header><main><h1>{title}</h1>{body}</main>'
    "<footer>Imprint</footer></body></html>"
)


@dataclass(frozen=True, slots=True)
class Twin:
    """A page that others differ from in figures alone; `figure`, which no other page has, answers its question."""

    path: str
    title: str
    body: str
    figure: str
    question: str
    language: str

    def html(self, head: str = "") -> bytes:
        return BASE.format(language=self.language, title=self.title, head=head, body=self.body).encode()


Term = tuple[int, bool]


def _terms(first: int) -> list[Term]:
    """List ten terms, a summer first: (year, whether it is the winter that begins in it)."""
    return [(first + n // 2, bool(n % 2)) for n in range(10)]


def _english(term: Term) -> str:
    year, is_winter = term
    return f"winter term {year}/{(year + 1) % 100}" if is_winter else f"summer term {year}"


def _german(term: Term) -> str:
    year, is_winter = term
    return f"Wintersemester {year}/{(year + 1) % 100}" if is_winter else f"Sommersemester {year}"


def _filled(asked: Sequence[str], n: int, term: Term) -> str:
    """Fill a question with one of the ways that people write a term."""
    year, is_winter = term
    pair = f"{year % 100}/{(year + 1) % 100}"
    is_german = "{short} zu" in asked[0]
    if is_winter:
        short = f"WS {pair}" if n % 4 == 1 else f"WiSe {year}/{year + 1}"
        long = f"Wintersemester {pair}" if is_german else f"the winter semester {year}/{year + 1}"
        loose = f"Winter {year}/{year % 100 + 1}" if is_german else f"winter {year}"
    else:
        short = f"SS {year}" if n % 4 == 2 else f"SoSe {year % 100}"
        long = f"Sommersemester {year}" if is_german else f"summer semester {year}"
        loose = f"Sommer {year}" if is_german else f"the summer of {year}"
    return asked[n % 3].format(short=short, long=long, loose=loose)


def reregistration() -> list[Twin]:
    asked = (
        "How much must I transfer to stay enrolled in {short}?",
        "What is the semester fee in {long}?",
        "I want to continue my studies in {loose}. Which amount is due?",
    )
    twins = []
    for n, term in enumerate(_terms(2023)):
        fee = f"{300 + 7 * n}.{10 + n}"
        year, is_winter = term
        due = f"{1 + n} February {year}" if not is_winter else f"{1 + n} August {year}"
        twins.append(
            Twin(
                f"/en/study/re-registration/{n}",
                f"Re-registration for the {_english(term)}",
                f"<p>Students who go on studying in the {_english(term)} re-register by transferring the semester "
                f"contribution. The semester contribution is {fee} euros. The money has to arrive by {due}.</p>"
                f"<h2>Late payment</h2><p>Whoever pays later is charged a late fee of {20 + n} euros.</p>",
                fee,
                _filled(asked, n, term),
                "en",
            )
        )
    return twins


def exams() -> list[Twin]:
    asked = (
        "Bis wann muss ich mich im {short} zu den Klausuren anmelden?",
        "Wann endet im {long} die Anmeldung zu Klausuren?",
        "Anmeldeschluss für Klausuren, {loose}?",
    )
    twins = []
    for n, term in enumerate(_terms(2022)):
        year, is_winter = term
        day = f"{3 + 2 * n}. {'Januar' if is_winter else 'Juni'} {year + is_winter}"
        twins.append(
            Twin(
                f"/de/pruefungen/termine-{n}",
                f"Prüfungstermine im {_german(term)}",
                f"<p>Die Anmeldung zu den Prüfungen des Semesters ({_german(term)}) ist bis zum {day} möglich. Danach "
                "ist keine Anmeldung mehr möglich.</p>"
                f"<h2>Prüfungszeitraum</h2><p>Die Prüfungen dauern {10 + n} Tage.</p>",
                day,
                _filled(asked, n, term),
                "de",
            )
        )
    return twins


def ticket() -> list[Twin]:
    asked = (
        "Wie teuer ist das Ticket {year}?",
        "Was muss ich {year} für Bus und Bahn zahlen?",
        "Ticketkosten im Jahr {year}?",
    )
    twins = []
    for n, year in enumerate(range(2019, 2029)):
        price = f"{150 + 4 * n},{20 + 3 * n} Euro"
        twins.append(
            Twin(
                f"/de/semesterticket?jahr={year}",
                f"Semesterticket {year}",
                f"<p>Das Semesterticket für Bus und Bahn kostet im Jahr {year} pro Semester {price}. Es gilt im ganzen "
                "Verbund.</p>"
                f"<h2>Erstattung</h2><p>Die Erstattung ist bis zum 15. Mai {year} zu beantragen.</p>",
                price,
                asked[n % 3].format(year=year),
                "de",
            )
        )
    return twins


def modules() -> list[Twin]:
    asked = (
        "How many credits do I need in total under PO {year}?",
        "I study by the {year} regulations. What is the number of credits in all?",
        "How many ECTS does the degree take with examination regulations {year}?",
    )
    twins = []
    for n, year in enumerate(range(2006, 2026, 2)):
        credits = f"{170 + n} ECTS"
        twins.append(
            Twin(
                f"/en/computer-science/modules/po{year}",
                f"Bachelor Computer Science: modules (PO {year})",
                f"<p>This list holds for students of the examination regulations {year}. The degree comprises "
                f"{credits} credits.</p><h2>Thesis</h2><p>The thesis has {10 + n} credits and takes {n + 6} weeks.</p>",
                credits,
                asked[n % 3].format(year=year),
                "en",
            )
        )
    return twins


def handbooks() -> list[Twin]:
    asked = (
        "Wie viele Wochen habe ich für die Masterarbeit nach PO {year}?",
        "Ich studiere nach der Prüfungsordnung von {year}. Wie lange habe ich Zeit für die Masterarbeit?",
        "Bearbeitungszeit Masterarbeit PO{short}?",
    )
    twins = []
    for n, year in enumerate(range(2007, 2027, 2)):
        weeks = f"{21 + n} Wochen"
        twins.append(
            Twin(
                f"/de/physik/po/{year}",
                f"Master Physik, Prüfungsordnung {year}",
                f"<p>Die Bearbeitungszeit der Masterarbeit beträgt {weeks}. Sie kann einmal verlängert werden.</p>"
                f"<h2>Wiederholung</h2><p>Eine Prüfung kann {2 + n} Mal wiederholt werden.</p>",
                weeks,
                asked[n % 3].format(year=year, short=f"{year % 100:02}"),
                "de",
            )
        )
    return twins


def intakes() -> list[Twin]:
    asked = (
        "By when do I have to apply to start in {year}?",
        "What is the deadline of the master's application for {year}?",
        "Until when can I hand in an application to begin in autumn {year}?",
    )
    twins = []
    for n, year in enumerate(range(2020, 2030)):
        day = f"{11 + n} May {year}"
        twins.append(
            Twin(
                f"/en/apply/{year}",
                f"Master's application: intake {year}",
                f"<p>The portal opens on {1 + n} March {year}. The last day for an application for the {year} intake "
                f"is {day}.</p><h2>Places</h2><p>There are {60 + n} places.</p>",
                day,
                asked[n % 3].format(year=year),
                "en",
            )
        )
    return twins


FAMILIES: Sequence[list[Twin]] = (reregistration(), exams(), ticket(), modules(), handbooks(), intakes())
TWINS = [twin for family in FAMILIES for twin in family]


def twins(site: Site) -> None:
    """Add all of them, and true duplicates: under a second address, in print, in a session."""
    first, second, third = (family[3] for family in FAMILIES[:3])
    doubles = {
        "/copy/of-a-page": first.html(),
        "/print/page": second.html(f'<link rel="canonical" href="{second.path}">'),
        "/print/without-canonical": second.html('<link rel="stylesheet" media="print" href="/print.css">'),
        "/de/semesterticket?jahr=2022&sid=4f5a6b": third.html(),
        f"{FAMILIES[3][3].path};jsessionid=12AB?PHPSESSID=7": FAMILIES[3][3].html(),
    }
    titles = {twin.path: twin.title for twin in TWINS} | dict.fromkeys(doubles, "Print")
    links = [f'<li><a href="{path}">{title}</a></li>' for path, title in titles.items()]
    home = BASE.format(language="en", title="University", head="", body=f"<p>Welcome.</p><ul>{''.join(links)}</ul>")
    site.answers["/"] = page(home.encode())
    site.answers |= {path: page(body) for path, body in doubles.items()}
    site.answers |= {twin.path: page(twin.html()) for twin in TWINS}
