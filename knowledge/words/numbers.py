"""Numbers and ordinals of a question in words and in figures, English and German; pure."""

from functools import cache

from knowledge.words.numerals import ONES, ORDINALS, TENS

#: Without "one" and "ein", which are mostly pronoun and article.
CARDINALS = ONES | TENS
GERMAN_ENDINGS = ("e", "en", "er", "es", "em")
#: "acht" is eight, "achte" the eighth.
GERMAN_EIGHTH = "acht"
SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def read_number(word: str) -> tuple[str, ...]:
    """Return the other ways to write a number; a figure is read as cardinal and, up to twelve, as ordinal."""
    names, values = _tables()
    plain = word.lower()
    found = [form for value in values.get(plain, ()) for form in names[value] if form != plain]
    return tuple(dict.fromkeys(found))


@cache
def _tables() -> tuple[dict[tuple[str, int], list[str]], dict[str, list[tuple[str, int]]]]:
    """Return the names of each number, and the numbers of each name."""
    names: dict[tuple[str, int], list[str]] = {}
    for name, number in CARDINALS.items():
        names.setdefault(("cardinal", number), [str(number)]).append(name)
    for name, number in ORDINALS.items():
        if name.endswith("tyst"):  # an English number of tens has a name of its own
            continue
        forms = names.setdefault(("ordinal", number), [_shorten(number), str(number)])
        forms += [f"{name}{ending}" for ending in GERMAN_ENDINGS] if _is_german(name) else [name]
    values: dict[str, list[tuple[str, int]]] = {}
    for value, forms in names.items():
        for form in forms:
            values.setdefault(form, []).append(value)
    return names, values


def _shorten(number: int) -> str:
    suffix = "th" if 10 < number % 100 < 14 else SUFFIXES.get(number % 10, "th")
    return f"{number}{suffix}"


def _is_german(name: str) -> bool:
    return name == GERMAN_EIGHTH or (name.endswith("t") and name != "first")
