"""The German catalogue: complete, compiled, and nothing in the code is missing from it.

What fails here is mended by `manage.py makemessages -l de --no-location --ignore .venv --ignore var --ignore tests`,
a translation, and `manage.py compilemessages -l de --ignore .venv --ignore var`.
"""

import ast
import gettext
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation.template import templatize

CATALOGUE = settings.BASE_DIR / "locale" / "de" / "LC_MESSAGES"
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[a-z]|\{\w*\}")
#: Where the context, the message and its plural stand among the arguments.
FUNCTIONS = {
    "gettext": (None, 0, None),
    "ngettext": (None, 0, 1),
    "pgettext": (0, 1, None),
    "npgettext": (0, 1, 2),
}
FUNCTIONS |= {f"{name}_lazy": places for name, places in FUNCTIONS.items()} | {"gettext_noop": (None, 0, None)}
LITERAL = r"""u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
CALL_IN_TEMPLATE = re.compile(rf"(?:\b(?:{'|'.join(FUNCTIONS)})|(?<!\w)_)\(\s*{LITERAL}(?:\s*,\s*{LITERAL})*")

#: Context, message, plural.
Key = tuple[str, str, str]


@dataclass
class Entry:
    is_fuzzy: bool = False
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.parts.get("msgctxt", ""), self.parts["msgid"], self.parts.get("msgid_plural", "")

    @property
    def translations(self) -> list[str]:
        return [text for name, text in self.parts.items() if name.startswith("msgstr")]


def entries_of(text: str) -> Iterator[Entry]:
    """Of a catalogue's source; without its header and what is commented out."""
    for block in re.split(r"\n\s*\n", text):
        entry, name = Entry(), ""
        for line in block.splitlines():
            if line.startswith("#,"):
                entry.is_fuzzy = "fuzzy" in line
            elif match := re.match(r'(?:(msg[\w\[\]]+) )?(".*")$', line):
                name = match[1] or name
                entry.parts[name] = entry.parts.get(name, "") + ast.literal_eval(match[2])
        if entry.parts.get("msgid"):
            yield entry


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return list(entries_of((CATALOGUE / "django.po").read_text(encoding="utf-8")))


def placeholders(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text.replace("%%", "")))


def test_every_string_is_translated_with_its_placeholders(entries: list[Entry]) -> None:
    wrong = []
    for entry in entries:
        _, message, plural = entry.key
        originals = [message, plural] if plural else [message]
        is_complete = len(entry.translations) == len(originals) and all(entry.translations) and not entry.is_fuzzy
        pairs = zip(originals, entry.translations, strict=False)
        if not is_complete or any(placeholders(original) != placeholders(german) for original, german in pairs):
            wrong.append(entry)
    assert entries
    assert not wrong


def test_what_is_served_is_what_was_translated(entries: list[Entry]) -> None:
    """The .mo holds every entry of the .po and no other."""
    with (CATALOGUE / "django.mo").open("rb") as compiled:
        served = dict(gettext.GNUTranslations(compiled)._catalog)  # type: ignore[attr-defined]
    served.pop("", None)  # the header
    expected: dict[str | tuple[str, int], str] = {}
    for entry in entries:
        context, message, plural = entry.key
        name = f"{context}\x04{message}" if context else message
        for number, german in enumerate(entry.translations):
            expected[(name, number) if plural else name] = german
    assert served == expected


# --- nothing in the code is missing ---


def key_of(function: str, arguments: list[ast.expr]) -> Key | None:
    """Of a call; nothing where the message is no literal, which the code takes from elsewhere."""
    texts = [arg.value if isinstance(arg, ast.Constant) and isinstance(arg.value, str) else None for arg in arguments]
    key = tuple("" if place is None else texts[place] for place in FUNCTIONS[function])
    return None if None in key else key  # type: ignore[return-value]


def in_python(source: str) -> Iterator[Key]:
    tree = ast.parse(source)
    names = {name: name for name in FUNCTIONS}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            names |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in FUNCTIONS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in names and (key := key_of(names[name], node.args)):
                yield key


def in_template(source: str) -> Iterator[Key]:
    """Django's own reading of a template, as for makemessages, turns each string into a call."""
    for match in CALL_IN_TEMPLATE.finditer(templatize(source)):
        call = ast.parse(f"{match[0]})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        name = "gettext" if call.func.id == "_" else call.func.id
        if key := key_of(name, call.args):
            yield key


def sources() -> Iterator[Path]:
    """Our apps' code, and the templates."""
    ours = [Path(app.path) for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR]
    for folder in [*ours, settings.BASE_DIR / "templates"]:
        yield from (path for path in folder.rglob("*") if path.suffix in {".py", ".html", ".txt"})


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ('from django.utils.translation import gettext_lazy as _\nx = _("a" "b")', [("", "ab", "")]),
        ('from django.utils.translation import ngettext\nngettext("%d a", "%d b", n)', [("", "%d a", "%d b")]),
        ("from django.utils import translation\ntranslation.pgettext('c', 'a')", [("c", "a", "")]),
        ("from django.utils.translation import gettext as _\n_(name)", []),
        ('other("a")', []),
    ],
)
def test_strings_in_python_are_found(source: str, keys: list[Key]) -> None:
    assert list(in_python(source)) == keys


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ("""{% translate 'it"s' %} {% trans "b" as x %}""", [("", 'it"s', ""), ("", "b", "")]),
        ("{% blocktranslate with n=m %}a {{ n }}{% endblocktranslate %}", [("", "a %(n)s", "")]),
        ("{% blocktranslate count n=m %}a{% plural %}{{ n }} b{% endblocktranslate %}", [("", "a", "%(n)s b")]),
        ('{% translate "a" context "c" %}{{ _("b") }}', [("c", "a", ""), ("", "b", "")]),
        ("{% if a_(b) %}gettext{% endif %}", []),
    ],
)
def test_strings_in_templates_are_found(source: str, keys: list[Key]) -> None:
    assert list(in_template(source)) == keys


def test_the_catalogue_has_every_string_of_the_code(entries: list[Entry]) -> None:
    known = {entry.key for entry in entries}
    # A message and its plural may be one entry with another's singular.
    known |= {(context, message, "") for context, message, _ in known}
    missing = {}
    for path in sources():
        read = in_python if path.suffix == ".py" else in_template
        if lacking := [key for key in read(path.read_text(encoding="utf-8")) if key not in known]:
            missing[str(path.relative_to(settings.BASE_DIR))] = lacking
    assert not missing


# --- Django's own scripts ---


def test_every_text_of_the_admins_two_boxes_is_german(admin_client: Client) -> None:
    """Django's German lacks some of them: `djangojs.po` has those."""
    script = Path(django.__file__).parent / "contrib/admin/static/admin/js/SelectFilter2.js"
    texts = re.findall(rf"gettext\(({LITERAL})\)", script.read_text(encoding="utf-8"))
    reply = admin_client.get(reverse("admin:jsi18n"), headers={"accept-language": "de"}).content.decode()
    served = json.loads(re.search(r"newcatalog = ({.*?});", reply, re.DOTALL)[1])  # type: ignore[index]
    assert len(texts) > 8
    assert [text for text in texts if ast.literal_eval(text) not in served] == []
