"""Staff read what students wrote, not how a word was read that no page has."""

import pytest

from analytics.models import Gap
from analytics.privacy import standalone_text, undo_spelling
from tests.analytics.gaps.rows import ask_in_vain, look

READ = [
    {"step": "spelling", "word": "tomes", "read_as": ["times"]},
    {"step": "synonyms", "word": "borrow", "read_as": ["loan"]},
]


def test_a_word_that_was_read_as_misspelt_is_the_students_again() -> None:
    assert undo_spelling("How many times may I\n borrow a loan?", READ) == "How many tomes may I borrow a loan?"
    assert undo_spelling("Sometimes I borrow", READ) == "Sometimes I borrow"


@pytest.mark.django_db
def test_a_topic_is_named_in_the_words_of_students() -> None:
    answer = {"rewritten": "How many times may I borrow?", "readings": READ}
    asked = [ask_in_vain("How many tomes may I borrow?", **answer) for _student in range(3)]
    look()
    assert standalone_text(asked[0]) == "How many tomes may I borrow?"
    assert Gap.objects.get().name == "How many tomes may I borrow?"
