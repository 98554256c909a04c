"""What counts as a common word of English or German."""

import pytest

from knowledge.words.dictionary import Dictionary, is_common_word


@pytest.mark.parametrize("word", ["abgemeldet", "überwiesen", "welchem", "maschine", "dean", "bits", "queue", "mist"])
def test_a_word_in_any_inflection_is_common(word: str) -> None:
    assert is_common_word(word)


@pytest.mark.parametrize("word", ["libary", "emial", "semster", "prüfungsanmeldng", "tiket", "nich", "", '"', "\n"])
def test_a_slip_is_no_common_word(word: str) -> None:
    assert not is_common_word(word)


def test_the_first_and_the_last_word_of_a_list_are_found_and_nothing_beside_them() -> None:
    words = Dictionary('{\n"aal": 50,\n"bad": 7,\n"über": 3\n}'.encode())
    assert [word for word in ("a", "aal", "aalb", "bad", "c", "über", "übera") if word in words] == [
        "aal",
        "bad",
        "über",
    ]
