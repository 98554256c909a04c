"""What stands in the file of a report, and what never does."""

import csv
import io
import json
import re
from datetime import datetime

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone, translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from analytics.counts.refresh import count_changed
from analytics.dashboard.comparison import publishable_overview
from analytics.dashboard.visibility import View
from analytics.models import Topic, TopicQuestion
from analytics.periods import Step
from analytics.privacy import remove_pii
from analytics.reports.columns import COLUMNS
from analytics.reports.content import NothingToTell, make_file
from analytics.reports.definition import Definition, Format
from analytics.reports.formats import excel
from analytics.reports.groups import measure_extent
from analytics.reports.permissions import Rights
from analytics.reports.queries import chosen
from analytics.topics.services import merge_topic
from core.tables.cells import restore
from tests.analytics.reports.rows import EVERYTHING, MASKED, agreed, asked, definition
from tests.factories import AssistantFactory, CitationFactory, ConversationFactory, FAQFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


def made(tmp_path, wanted: Definition, rights: Rights = EVERYTHING):
    count_changed()  # as every minute
    path = tmp_path / f"report.{wanted.format}"
    extent = make_file(path, wanted, wanted.period(), rights, lambda _done, _total: None)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    return path, extent


def lines(tmp_path, *columns, rights=EVERYTHING, **values):
    path, _extent = made(tmp_path, definition(*columns, format=Format.JSONL, **values), rights)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sheet(tmp_path, *columns, rights=EVERYTHING, **values):
    path, _extent = made(tmp_path, definition(*columns, format=Format.XLSX, **values), rights)
    return load_workbook(path)


def table(tmp_path, *columns, rights=EVERYTHING, **values):
    path, _extent = made(tmp_path, definition(*columns, format=Format.CSV, **values), rights)
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_every_column_says_what_is_known_of_an_answer(tmp_path):
    answer = asked(
        "And for me?",
        thumbs=-1,
        comment="wrong year",
        rewritten="What are the fees for me?",
        status="abstained",
        reason="no_evidence",
        faq=FAQFactory(question="What are the fees?"),
        profile="default",
        prompt="v3",
        model="qwen",
        timings_ms={"first_token": 120.5, "total": 900, "retrieval": 12.25},
    )
    CitationFactory(message=answer, title="Fees", url="https://www.uni.example/fees", heading="Refunds", page=3)
    (row,) = lines(tmp_path, *COLUMNS)
    assert list(row) == list(COLUMNS)
    told = {key: row[key] for key in row if key not in {"asked_at", "assistant", "conversation", "visitor"}}
    assert told == {
        "site": None,
        "language": "en",
        "question": "And for me?",
        "rewritten": "What are the fees for me?",
        "answer": "318 euros [1].",
        "sources": [{"n": 1, "title": "Fees", "heading": "Refunds", "page": 3, "url": "https://www.uni.example/fees"}],
        "faq": "What are the fees?",
        "status": "abstained",
        "outcome": "unanswered",
        "abstained": True,
        "reason": "no_evidence",
        "thumbs": -1,
        "reasons": ["wrong"],
        "comment": "wrong year",
        "stars": None,
        "contacts": None,
        "verdict": None,
        "profile": "default",
        "prompt": "v3",
        "model": "qwen",
        "first_token_ms": 120.5,
        "total_ms": 900.0,
        "retrieval_ms": 12.25,
    }
    assert row["visitor"] == str(answer.conversation.visitor_id)
    assert datetime.fromisoformat(row["asked_at"]).tzinfo


def test_a_workbook_has_typed_cells_a_frozen_head_and_a_filter(tmp_path):
    answer = asked("What are the fees?", thumbs=1, timings_ms={"total": 912.5}, status="abstained")
    page = sheet(tmp_path, "asked_at", "question", "thumbs", "total_ms", "abstained").active
    assert page.freeze_panes == "A2"
    assert page.auto_filter.ref == "A1:E2"
    assert [cell.value for cell in page[1]] == [
        str(COLUMNS[key].label) for key in ("asked_at", "question", "thumbs", "total_ms", "abstained")
    ]
    answer.question.refresh_from_db()
    at = timezone.localtime(answer.question.created_at).replace(tzinfo=None)
    cells = list(page[2])
    assert cells[0].is_date
    assert abs(cells[0].value - at).total_seconds() < 1
    assert [cell.value for cell in cells[1:]] == ["What are the fees?", 1, 912.5, True]
    assert [cell.data_type for cell in cells[1:]] == ["s", "n", "n", "b"]
    assert page.column_dimensions["B"].width == COLUMNS["question"].width


def test_rows_beyond_a_sheet_go_on_in_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "ROWS_A_SHEET", 2)
    asked("Who?", visitors=5)
    book = sheet(tmp_path, "question")
    assert [[cell.value for cell in page["A"]] for page in book] == [["question", "Who?", "Who?"]] * 2 + [
        ["question", "Who?"]
    ]
    assert [page.auto_filter.ref for page in book] == ["A1:A3", "A1:A3", "A1:A2"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+491", "-2", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")', " =1", "＝1", ";=1", "\n=1"]
)
def test_no_spreadsheet_runs_what_a_student_wrote(tmp_path, text):
    asked(text)
    page = sheet(tmp_path, "question").active
    assert page["A2"].data_type == "s"
    page_cell = page["A2"].value
    assert restore(page_cell) == text
    (tmp_path / "report.xlsx").unlink()
    (cell,) = table(tmp_path, "question")[1]
    assert cell == page_cell
    assert not [part for part in re.split(r"[;\t\r\n]", cell) if re.match(r"\s*[=+\-@＝]", part)]
    (tmp_path / "report.csv").unlink()
    assert lines(tmp_path, "question") == [{"question": text}]


def test_numbers_below_zero_stay_numbers(tmp_path):
    asked(thumbs=-1)
    assert sheet(tmp_path, "thumbs").active["A2"].value == -1
    (tmp_path / "report.xlsx").unlink()
    assert table(tmp_path, "thumbs")[1] == ["-1"]


def test_a_workbook_opens_whatever_was_typed(tmp_path):
    asked("a\x0bb\x1f\ufffe\uffffc <&> \u0001 😀" + "x" * 40_000)
    value = sheet(tmp_path, "question").active["A2"].value
    assert value.startswith("abc <&>  😀xxx")
    assert len(value) == 32_767
    assert value.endswith("…")


def test_csv_holds_commas_quotes_and_lines(tmp_path):
    asked('Is it "free",\nor not; at all?')
    assert table(tmp_path, "question", "abstained") == [
        ["question", "no answer given"],
        ['Is it "free",\nor not; at all?', "no"],
    ]


def test_files_for_people_are_in_their_language_and_those_for_programs_in_none(tmp_path):
    asked(status="abstained", thumbs=-1)
    with translation.override("de"):
        rows = table(tmp_path, "language", "reasons")
        (tmp_path / "report.csv").unlink()
        assert lines(tmp_path, "language", "reasons") == [{"language": "en", "reasons": ["wrong"]}]
    assert rows[0][0] == "Sprache"
    assert rows[1] == ["Englisch", "falsch"]


def test_personal_data_is_masked(tmp_path):
    asked(
        "My name is Anna Schmidt, anna@uni.example, 0170 1234567, Matrikelnummer 1234567. What are the fees?",
        rewritten="What are the fees for Anna Schmidt, anna@uni.example?",
        comment="call me: 0170 1234567",
        answered="Dear Anna, the fees for 1234567 are 318 euros; ask fees@uni.example [1].",
        strategy="generated",
    )
    (row,) = lines(tmp_path, "question", "rewritten", "comment", "answer", rights=MASKED)
    said = " ".join(row.values())
    for personal in ("anna@", "0170", "1234567"):
        assert personal not in said
    assert "Anna" not in row["question"]
    assert row["answer"] == "Dear [name], the fees for [number] are 318 euros; ask fees@uni.example [1]."


def test_an_answer_does_not_say_again_what_was_said_of_oneself_earlier(tmp_path):
    conversation = ConversationFactory()
    asked("My name is Anna Schmidt.", conversation=conversation)
    asked(
        "What are the fees?",
        conversation=conversation,
        answered="Anna, they are 318 euros.",
        rewritten="What does Anna Schmidt pay?",
        strategy="generated",
    )
    rows = lines(tmp_path, "answer", "rewritten", rights=MASKED)
    assert rows[1] == {"answer": "[name], they are 318 euros.", "rewritten": "What does [name] pay?"}


def test_what_a_page_says_of_an_office_stays_in_an_answer():
    answer = "Write to Ms Berger, berger@uni.example, or call 06421 2824444."
    assert remove_pii(answer, ["Who helps me?", "My name is Li De"]) == answer


def test_nobody_without_the_right_gets_what_tells_visitors_apart(tmp_path):
    asked()
    assert lines(tmp_path, "question", "visitor", "conversation", rights=MASKED) == [{"question": "What are the fees?"}]
    (tmp_path / "report.jsonl").unlink()
    with pytest.raises(NothingToTell):
        made(tmp_path, definition("visitor"), MASKED)


def few(**values):
    return Rights(**{"sees_personal_text": False, "smallest": 3, "is_whole": True, "assistants": frozenset(), **values})


def test_groups_of_few_visitors_are_left_out(tmp_path):
    one = AssistantFactory(name="One")
    asked("Enough", visitors=4, assistant=one)
    for name in ("Few", "Few too"):
        asked(name, visitors=2, assistant=AssistantFactory(name=name))
    path, extent = made(tmp_path, definition("question", format=Format.JSONL), few())
    assert path.read_text().splitlines() == ['{"question": "Enough"}'] * 4
    assert extent.rows == 4


@pytest.mark.parametrize("kind", list(Format))
def test_a_file_of_any_kind_leaves_out_the_next_smallest_group_too_if_a_sum_would_tell_the_hidden_one(tmp_path, kind):
    for name, visitors in (("Law", 6), ("Arts", 4), ("Chemistry", 2)):
        asked(name, visitors=visitors, assistant=AssistantFactory(name=name))
    path, extent = made(tmp_path, definition("question", format=kind), few())
    assert extent.rows == 6
    content = path.read_bytes()
    if kind == Format.XLSX:
        content = str(list(load_workbook(path).active.values)).encode()
    assert b"Law" in content
    assert b"Arts" not in content
    assert b"Chemistry" not in content
    assert made_again(tmp_path, definition("question", format=kind, span="last_7"), few()) == 6


def made_again(tmp_path, wanted, rights):
    """Return the number of rows of another file."""
    for each in tmp_path.iterdir():
        each.unlink()
    try:
        return made(tmp_path, wanted, rights)[1].rows
    except NothingToTell:
        return 0


@given(visitors=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_has_the_groups_that_the_dashboard_shows_or_where_it_shows_none_those_that_are_large(tmp_path, visitors):
    with transaction.atomic():
        reader = UserFactory(permissions=["knowledge.whole_university"])
        assistants = [AssistantFactory() for _each in visitors]
        for assistant, (english, german) in zip(assistants, visitors, strict=True):
            asked(visitors=english, assistant=assistant) if english else None
            asked(visitors=german, assistant=assistant, language="de") if german else None
        count_changed()
        wanted = definition("question")
        found = measure_extent(wanted, wanted.period(), few(smallest=3), ("question",)).suppressed
        with override_settings(SMALLEST_GROUP=3):
            shown = {
                (assistant.pk, None, language)
                for assistant in assistants
                for language in ("en", "de")
                if (view := publishable_overview(dashboard_view(reader, wanted, assistant, language), with_gaps=False))
                and not view.now.is_empty
            }
        large = {
            (assistant.pk, None, language)
            for assistant, asked_in in zip(assistants, visitors, strict=True)
            for language, number in zip(("en", "de"), asked_in, strict=True)
            if number >= 3
        }
        assert set(found) == (shown or large)
        of_english = definition("question", language="en")
        narrowed = measure_extent(of_english, of_english.period(), few(smallest=3), ("question",)).suppressed
        assert set(narrowed) <= {group for group in shown if group[2] == "en"}
        transaction.set_rollback(True)


def dashboard_view(reader, wanted, assistant, language):
    return View(wanted.period(), Step.DAY, reader, assistant.pk, None, language)


def test_thumbs_of_a_group_are_empty_too_if_a_sum_would_tell_those_that_few_gave(tmp_path):
    law, arts, sports = (AssistantFactory(name=name) for name in ("Law", "Arts", "Sports"))
    asked(visitors=3, assistant=law)
    asked(visitors=2, assistant=law, thumbs=1)
    asked(visitors=4, assistant=arts, thumbs=1)
    asked(visitors=5, assistant=sports, thumbs=1)
    told = {row["assistant"]: row["thumbs"] for row in lines(tmp_path, "assistant", "thumbs", rights=few())}
    assert told == {"Law": None, "Arts": None, "Sports": 1}


def test_one_person_who_rates_in_two_groups_is_not_taken_for_two(tmp_path):
    law, arts = AssistantFactory(name="Law"), AssistantFactory(name="Arts")
    asked(visitors=3, assistant=law)
    asked(visitors=3, assistant=arts)
    often = agreed(timezone.now())
    for assistant in (law, law, arts, arts):
        asked(assistant=assistant, visitor=often, thumbs=1)
    assert {row["thumbs"] for row in lines(tmp_path, "thumbs", rights=few())} == {None}


def topic_of(*answers, assistant):
    topic = Topic.objects.create(name="Fees", assistant=assistant)
    TopicQuestion.objects.bulk_create(TopicQuestion(message=each.question, topic=topic) for each in answers)
    return topic


def test_a_report_is_narrowed_to_topics_also_after_one_was_joined(tmp_path):
    law = AssistantFactory()
    fees, exams = (topic_of(asked(text, assistant=law), assistant=law) for text in ("Fees?", "Exams?"))
    asked("Neither?", assistant=law)
    assert lines(tmp_path, "question", topics=(fees.pk,)) == [{"question": "Fees?"}]
    merge_topic(topic=fees, version=0, into=exams)
    (tmp_path / "report.jsonl").unlink()
    rows = lines(tmp_path, "question", topics=(fees.pk,))
    assert sorted(row["question"] for row in rows) == ["Exams?", "Fees?"]


def test_a_report_is_narrowed_to_outcomes(tmp_path):
    law = AssistantFactory()
    asked("Bad", assistant=law, thumbs=-1)
    asked("Fine", assistant=law, thumbs=1)
    asked("Who knows", assistant=law)
    rows = lines(tmp_path, "question", "outcome", outcomes=("disliked", "silent"))
    assert sorted(row["question"] for row in rows) == ["Bad", "Who knows"]


def test_no_filter_tells_an_opinion_that_its_column_hides(tmp_path):
    law = AssistantFactory()
    asked(visitors=6, assistant=law, thumbs=1)
    asked(visitors=1, assistant=law, thumbs=-1)
    asked(visitors=6, assistant=law)
    for narrow in (
        *({"thumbs": thumbs} for thumbs in ("up", "down", "none")),
        *({"outcomes": (outcome,)} for outcome in ("confirmed", "disliked", "silent")),
        {"outcomes": ("confirmed", "silent")},
    ):
        assert made_again(tmp_path, definition("question", **narrow), few()) == 0
        assert made_again(tmp_path, definition("question", **narrow), few(smallest=1)) > 0
    asked(visitors=2, assistant=law, thumbs=-1)
    assert made_again(tmp_path, definition("question", thumbs="down"), few()) == 3
    assert made_again(tmp_path, definition("question", outcomes=("confirmed", "silent")), few()) == 12


def test_no_filter_leaves_out_so_few_that_they_could_be_told(tmp_path):
    law = AssistantFactory()
    fees = topic_of(*(asked("Fees?", assistant=law) for _each in range(4)), assistant=law)
    asked("Something rare", visitors=2, assistant=law)
    assert made_again(tmp_path, definition("question"), few()) == 6
    assert made_again(tmp_path, definition("question", topics=(fees.pk,)), few()) == 0
    asked("Something else", assistant=law)
    assert made_again(tmp_path, definition("question", topics=(fees.pk,)), few()) == 4


def test_somebody_who_asks_often_is_still_one_visitor(tmp_path):
    conversation = ConversationFactory()
    for _ in range(10):
        asked(conversation=conversation)
    with pytest.raises(NothingToTell, match="so few visitors"):
        made(tmp_path, definition(), few())
    assert list(tmp_path.iterdir()) == []


def test_a_filter_makes_no_small_group_visible(tmp_path):
    assistant = AssistantFactory()
    asked(visitors=5, assistant=assistant)
    asked(visitors=2, assistant=assistant, status="abstained")
    with pytest.raises(NothingToTell):
        made(tmp_path, definition(statuses=("abstained",)), few())


def test_opinions_that_few_gave_are_empty_as_the_dashboard_hides_them(tmp_path):
    law, arts = AssistantFactory(name="Law"), AssistantFactory(name="Arts")
    asked(visitors=3, assistant=law, thumbs=1)
    asked(visitors=2, assistant=law, comment="Out of date")
    asked(visitors=3, assistant=arts, thumbs=1)
    rows = lines(tmp_path, "assistant", "thumbs", "reasons", "comment", rights=few(sees_personal_text=True))
    assert [row for row in rows if row["assistant"] == "Law"] == [
        {"assistant": "Law", "thumbs": None, "reasons": None, "comment": None}
    ] * 5
    assert [row["thumbs"] for row in rows if row["assistant"] == "Arts"] == [1, 1, 1]


def test_stars_that_few_gave_are_empty(tmp_path):
    law = AssistantFactory()
    for stars in (5, 4, None):
        asked(conversation=ConversationFactory(assistant=law, stars=stars), thumbs=1)
    assert [row["stars"] for row in lines(tmp_path, "stars", rights=few())] == [None] * 3
    assert [row["stars"] for row in lines(tmp_path, "stars", rights=few(smallest=2))] == [5, 4, None]


def test_what_became_of_few_conversations_is_empty_as_it_would_tell_of_their_thumbs(tmp_path):
    law = AssistantFactory()
    asked(visitors=1, assistant=law, thumbs=-1)
    asked(visitors=3, assistant=law)
    assert [row["outcome"] for row in lines(tmp_path, "outcome", rights=few())] == [None] * 4
    told = [row["outcome"] for row in lines(tmp_path, "outcome", rights=few(smallest=1))]
    assert sorted(told) == ["disliked", "silent", "silent", "silent"]
    asked(visitors=2, assistant=law, thumbs=-1)
    told = [row["outcome"] for row in lines(tmp_path, "outcome", rights=few())]
    assert sorted(told) == ["disliked"] * 3 + ["silent"] * 3


def test_contacts_that_few_used_are_empty(tmp_path):
    law = AssistantFactory()
    for used in (["email", "phone"], ["email"], []):
        asked(assistant=law, contacts_used=used)
    assert [row["contacts"] for row in lines(tmp_path, "contacts")] == [["email", "phone"], ["email"], None]
    assert [row["contacts"] for row in lines(tmp_path, "contacts", rights=few(smallest=2))] == [None] * 3


def test_contacts_have_names_in_a_file_for_people(tmp_path):
    asked(contacts_used=["email", "phone"])
    assert table(tmp_path, "contacts") == [["contacts used"], ["e-mail address, telephone number"]]


def test_nobody_gets_answers_of_other_teams(tmp_path):
    own, other = asked("Ours"), asked("Theirs")
    rights = Rights(True, 1, False, frozenset({own.conversation.assistant_id}))
    assert lines(tmp_path, "question", rights=rights) == [{"question": "Ours"}]
    (tmp_path / "report.jsonl").unlink()
    with pytest.raises(NothingToTell):
        made(tmp_path, definition(assistants=(other.conversation.assistant_id,)), rights)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"language": "de"}, {"de"}),
        ({"statuses": ("abstained", "failed")}, {"abstained"}),
        ({"thumbs": "down"}, {"down"}),
        ({"thumbs": "none"}, {"de", "abstained", "plain", "old"}),
        ({"thumbs": "up"}, set()),
        ({"verdict": "none"}, {"de", "abstained", "down", "plain", "old"}),
        ({"verdict": "abuse"}, set()),
        ({"span": "last_7"}, {"de", "abstained", "down", "plain"}),
    ],
)
def test_filters_choose_answers(filters, found):
    asked("de", language="de")
    asked("abstained", status="abstained")
    asked("down", thumbs=-1)
    asked("plain")
    asked("old", days_ago=7)
    asked("being written", status="generating")
    wanted = definition(**filters)
    answers = chosen(wanted, wanted.period(), EVERYTHING)
    assert {answer.question.text for answer in answers} == found
    assert measure_extent(wanted, wanted.period(), EVERYTHING, ()).rows == len(found)
