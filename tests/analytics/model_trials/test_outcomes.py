"""How answers are judged without a model, and how the best layout is chosen."""

from analytics.model_trials.outcomes import LAYOUT_BY_CODE, QUOTES, Outcome, Verdict, best_layouts, holds, judge, tally
from analytics.model_trials.questions import KnownQuestion
from chat.prompt_template import BUILT_IN, LAYOUTS, Layout, lay_out, render
from tests.chat.test_prompt_template import values

FEE = KnownQuestion("faq:1", "What is the fee?", "en", frozenset({7}), "It is 318.40 euros.")


def given(way: str, verdicts: list[Verdict], *, seconds: float = 1) -> list[Outcome]:
    return [Outcome(way, f"faq:{place}", verdict, 0.5, seconds, 100, False) for place, verdict in enumerate(verdicts)]


def test_an_answer_is_right_with_a_linked_document_and_the_expected_figures() -> None:
    assert judge(FEE, text="Pay 318,40 euros.", documents={7, 8}, is_answered=True) == Verdict.RIGHT
    assert judge(FEE, text="Pay 318.40 euros.", documents={8}, is_answered=True) == Verdict.BESIDE
    assert judge(FEE, text="Pay 290 euros.", documents={7}, is_answered=True) == Verdict.BESIDE
    assert judge(FEE, text="I do not know.", documents=set(), is_answered=False) == Verdict.DECLINED


def test_any_answer_is_wrong_where_the_documents_are_left_out() -> None:
    assert judge(FEE.withheld(), text="Pay 290 euros.", documents={9}, is_answered=True) == Verdict.WRONG
    assert judge(FEE.withheld(), text="", documents=set(), is_answered=False) == Verdict.SILENT


def test_words_count_where_no_figure_is_expected_and_only_in_one_language() -> None:
    expected = "You apply for a room with the housing office of the student services."
    assert holds("Apply with the housing office.", expected, language="en")
    assert not holds("The library is open for you and has many books.", expected, language="en")
    assert holds("Das Zimmer wird beim Studierendenwerk beantragt, nicht bei der Universität.", expected, language="en")
    assert holds("Whatever it says.", "", language="en")


def test_the_best_layout_has_most_right_minus_wrong_and_then_the_least_seconds() -> None:
    first, second, third, *_others = LAYOUT_BY_CODE
    outcomes = [
        *given(first, [Verdict.RIGHT, Verdict.RIGHT, Verdict.WRONG], seconds=1),
        *given(second, [Verdict.RIGHT, Verdict.DECLINED, Verdict.SILENT], seconds=5),
        *given(third, [Verdict.RIGHT, Verdict.RIGHT, Verdict.SILENT], seconds=9),
    ]
    assert best_layouts(outcomes, among=LAYOUT_BY_CODE, count=2) == [third, first]


def test_a_tally_counts_each_kind_of_question_apart() -> None:
    found = tally(
        QUOTES, given(QUOTES, [Verdict.RIGHT, Verdict.BESIDE, Verdict.DECLINED, Verdict.WRONG, Verdict.SILENT])
    )
    assert found
    assert (found.answerable, found.right, found.declined) == (3, 1, 1)
    assert (found.withheld, found.wrong, found.standing) == (2, 1, 0)
    assert tally("refuse/sources/0", []) is None


def test_the_usual_layout_is_the_built_in_text() -> None:
    assert lay_out(Layout()) == BUILT_IN
    assert (
        len({lay_out(layout).name for layout in LAYOUTS}) == len({lay_out(layout).question for layout in LAYOUTS}) * 2
    )


def test_a_layout_leaves_out_the_refusal_and_puts_the_question_first() -> None:
    template = lay_out(Layout(may_refuse=False, is_question_first=True, most_sources=3))
    assert template.name == "built-in 2, without refusal, question first, 3 sources"
    _system, user = render(template, values())
    assert "NO_ANSWER" not in user
    assert user.startswith("Question, between two lines of <<f00d>>:\n<<f00d>>\nHow much?\n<<f00d>>\n\nSources,")
    assert user.endswith("in brackets after each sentence.")
