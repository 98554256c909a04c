"""Editions in answers: the one asked for or the current one answers, and the answer names its term."""

import datetime
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from core.db.prepared import fetch_all
from faqs.tasks import index_faq
from knowledge.editions.terms import Term, month_of, name_term, names, term_at
from knowledge.models import Document, EditionGroup
from knowledge.retrieval.scope import build_scope
from knowledge.services.documents import set_document_status
from tests.conftest import load_pages
from tests.factories import FAQFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server

TODAY = timezone.localdate()
NOW = term_at(month_of(TODAY))
BEFORE, AFTER, LONG_AFTER = (term_at(NOW.begin + months) for months in (-6, 6, 60))
FEES = {BEFORE: "310.10", NOW: "320.20", AFTER: "330.30"}


def short(term: Term) -> str:
    year = term.begin // 12
    return f"WS {year}/{(year + 1) % 100}" if term.kind == "winter" else f"SoSe {year}"


def english(term: Term) -> str:
    return name_term(term, "en")


ENGLISH = """# Semester contribution

The semester contribution is {fee} euros. It covers the semester ticket and the student services. Who pays late owes
20 euros more. It is paid by bank transfer to the account of the university."""
CREDITS = """# Modules

The bachelor's thesis has {credits} credits, and its colloquium is a talk of twenty minutes before the examiners. The
internship is done at a company or in a laboratory of the university."""
QUESTION = "How much is the semester contribution?"


def fee_page(term: Term, more: str = "") -> dict[str, Any]:
    path = short(term).lower().replace(" ", "-").replace("/", "-")
    text = ENGLISH.format(fee=FEES[term]) + more
    return {"url": f"https://www.uni.example/fees/{path}", "title": f"Contribution {short(term)}", "text": text}


def handbooks() -> list[dict[str, Any]]:
    return [
        {
            "url": f"https://www.uni.example/handbook-po-{year}",
            "title": f"Handbook Physics PO {year}",
            "text": CREDITS.format(credits=credits),
        }
        for year, credits in ((2019, 12), (2023, 15))
    ]


@pytest.fixture
def _pages(db: None) -> None:
    load_pages([*map(fee_page, FEES), *handbooks()])
    assert EditionGroup.objects.count() == 2


def figures(text: str) -> set[str]:
    return {fee for fee in FEES.values() if fee in text}


@pytest.mark.usefixtures("_pages")
@pytest.mark.parametrize(
    ("question", "term"),
    [
        (QUESTION, NOW),
        (f"How much is the semester contribution in the {english(BEFORE)}?", BEFORE),
        (f"How much is the semester contribution in {short(AFTER)}?", AFTER),
        ("How much is the semester contribution next semester?", AFTER),
        ("How much was the semester contribution last semester?", BEFORE),
        (f"How much is the semester contribution in the {NOW.kind} semester?", NOW),
    ],
)
def test_the_edition_asked_for_answers_or_else_the_current_one(server: Server, question: str, term: Term) -> None:
    edition = english(term)
    token = server.session()
    with server.connect(token, language="en") as tab:
        answer = tab.answer(question)
        conversation = tab.conversation
    assert figures(answer.text) == {FEES[term]}
    assert {source["edition"] for source in answer.cited} == {edition}
    assert f"**{edition}**" in answer.text or names(answer.cited[0]["quote"], edition)
    with server.connect(token) as tab:
        tab.resume(conversation=conversation)
        saved = tab.next()["messages"][1]
    assert saved["sources"][0]["edition"] == edition


@pytest.mark.usefixtures("_pages")
def test_a_german_answer_names_it_in_german(server: Server) -> None:
    with server.connect(language="de") as tab:
        answer = tab.answer(f"Wie hoch ist die semester contribution im {short(BEFORE)}?")
    assert {source["edition"] for source in answer.cited} == {name_term(BEFORE, "de")}


@pytest.mark.usefixtures("_pages")
def test_where_the_term_asked_for_is_missing_the_answer_says_so_and_no_other_answers(server: Server) -> None:
    with server.connect(language="en") as tab:
        answer = tab.answer(f"How much is the semester contribution in {short(LONG_AFTER)}?")
    (said,) = (event["text"] for event in answer.events if event["type"] == "abstain")
    assert figures(said) == set()
    assert f"no edition for {english(LONG_AFTER)}, only for: {english(AFTER)}, {english(NOW)}" in said


@pytest.mark.usefixtures("_pages")
def test_a_term_to_come_that_is_missing_is_answered_with_the_current_ones_facts_under_its_name(server: Server) -> None:
    set_document_status(documents=Document.objects.filter(title__contains=short(AFTER)), status="archived")
    with server.connect(language="en") as tab:
        answer = tab.answer("How much is the semester contribution next semester?")
    assert figures(answer.text) == {FEES[NOW]}
    assert answer.text.index(f"no edition for {english(AFTER)}") < answer.text.index(f"**{english(NOW)}**")


@pytest.mark.usefixtures("_pages")
def test_of_regulations_all_are_quoted_each_named_and_only_the_one_asked_for(server: Server) -> None:
    with server.connect(language="en") as tab:
        both = tab.answer("How many credits has the bachelor's thesis in Physics?")
        one = tab.answer("How many credits has the bachelor's thesis in Physics under PO 2019?")
    assert "12 credits" in both.text
    assert "15 credits" in both.text
    assert {source["edition"] for source in both.cited} == {
        "Examination regulations 2019",
        "Examination regulations 2023",
    }
    assert "12 credits" in one.text
    assert "15 credits" not in one.text


@pytest.mark.usefixtures("_pages")
def test_an_edition_that_is_no_longer_used_does_not_count(server: Server) -> None:
    Document.objects.filter(title__contains=short(NOW)).update(valid_until=TODAY - datetime.timedelta(days=1))
    with server.connect(language="en") as tab:
        answer = tab.answer(QUESTION)
    assert figures(answer.text) == {FEES[BEFORE]}


@pytest.mark.usefixtures("_pages")
def test_a_question_of_staff_that_links_last_terms_page_leads_to_the_current_one(server: Server) -> None:
    old = Document.objects.get(title=f"Contribution {short(BEFORE)}")
    index_faq(FAQFactory(question=QUESTION, status="published", collection=old.collection, documents=[old]).pk)
    with server.connect(language="en") as tab:
        answer = tab.answer(QUESTION)
    assert figures(answer.text) == {FEES[NOW]}


@pytest.mark.usefixtures("_pages")
def test_what_only_an_older_edition_says_is_quoted_under_its_term(server: Server) -> None:
    load_pages([fee_page(BEFORE, "\n\n# Sauna\n\nThe sauna of the sports centre opens at noon.")])
    with server.connect(language="en") as tab:
        answer = tab.answer("When does the sauna of the sports centre open?")
    assert "noon" in answer.text
    assert f"**{english(BEFORE)}**" in answer.text


@pytest.mark.usefixtures("_pages")
def test_published_systems_rank_as_before() -> None:
    scope = build_scope()
    for name in ("bm25", "marcel", "aueb-ensemble", "syllabus-hybrid"):
        found = retrieve_with(PROFILES[name], QUESTION, scope=scope, k=10)
        assert not found.left_out
        assert "editions" not in found.timings_ms
    documents = {hit.document_id for hit in retrieve_with(PROFILES["default"], QUESTION, scope=scope, k=1).hits}
    assert documents == {Document.objects.get(title=f"Contribution {short(NOW)}").pk}


@pytest.mark.usefixtures("pages")
def test_where_there_are_no_editions_nothing_more_is_asked_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(statement: str, *args: Any) -> Any:
        asked.append(statement)
        return fetch_all(statement, *args)

    monkeypatch.setattr("knowledge.retrieval.editions.fetch_all", counted)
    assert retrieve_with(PROFILES["default"], QUESTION, scope=build_scope(), k=10).hits
    assert asked == []


@pytest.mark.usefixtures("_pages")
def test_the_models_sources_are_labelled_and_its_answer_names_the_term(
    server: Server, llm: FakeLLM, settings: Settings
) -> None:
    llm.says(f"The semester contribution is {FEES[NOW]} euros [1].")
    with server.connect(language="en") as tab:
        answer = tab.answer(QUESTION)
    assert f"Contribution {short(NOW)}" in llm.prompt
    assert answer.text.endswith(f"Edition: {english(NOW)} [1].")
