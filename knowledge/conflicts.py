"""Two with one form open: what was saved meanwhile, and the second's form, which loses nothing and takes nothing back.

A form goes with what it was opened with, so that a field that was not touched in it follows what was saved meanwhile.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from knowledge.diffs import Comparison
from knowledge.hashing import fingerprint

if TYPE_CHECKING:
    from django.forms import BaseForm, BoundField

#: In place of a fingerprint: of a row that is gone.
GONE = "gone"
#: A longer value goes with its form as a fingerprint, which tells as well whether it was touched.
LONGEST = 2_000
HASHED = "fingerprint:"


@dataclass(frozen=True, slots=True)
class Conflict:
    """What was saved meanwhile, and by whom: oneself, in another tab, where it `is_own`.

    `fingerprint` is that of the state that is shown; `both` are the labels of fields that were changed here and there.
    """

    fingerprint: str
    comparison: Comparison | None = None
    is_own: bool = False
    by: str = ""
    at: datetime | None = None
    both: Sequence[str] = ()

    @property
    def is_gone(self) -> bool:
        return self.fingerprint == GONE

    @property
    def message(self) -> str:
        if self.is_gone:
            return _("This was deleted while you worked on it. What you wrote is still here: nothing is lost.")
        return _("Nothing was saved yet: this was changed while you worked on it. What you wrote is still here.")


def values_of(form: "BaseForm") -> dict[str, str]:
    """What a browser sends of a form that nobody touched; of fields of one value each."""
    return {bound.name: _as_sent(bound) for bound in form}


def brief(value: str) -> str:
    """The same for two values that say the same."""
    plain = value.replace("\r\n", "\n").strip()
    return plain if len(plain) <= LONGEST else f"{HASHED}{fingerprint(plain)}"


def opened_with(form: "BaseForm") -> str:
    """What a form has to be sent along with."""
    return json.dumps({name: brief(value) for name, value in values_of(form).items()})


def opened(data: Mapping[str, Any]) -> dict[str, str]:
    """What the form that sent this was opened with; nothing where it does not say."""
    try:
        sent = json.loads(data.get("opened", ""))
    except (ValueError, RecursionError):
        return {}
    return sent if isinstance(sent, dict) else {}


def changed_meanwhile(data: Mapping[str, Any], form: "BaseForm") -> list[str]:
    """The fields that are not as the form that sent this was opened with; `form` has them as they are now."""
    before = opened(data)
    return [name for name, now in values_of(form).items() if name in before and brief(now) != before[name]]


def merged(data: QueryDict, form: "BaseForm") -> tuple[QueryDict, list[str]]:
    """What a form sent, with the values of now in fields that were not touched in it; and the names of those that were
    changed both here and meanwhile, which stay as they were sent."""
    before, now, changed, both = opened(data), values_of(form), data.copy(), []
    for name in changed_meanwhile(data, form):
        sent = brief(data.get(name, ""))
        if sent == before[name]:
            changed[name] = now[name]
        elif sent != brief(now[name]):
            both.append(name)
    changed["opened"] = opened_with(form)
    return changed, both


def _as_sent(bound: "BoundField") -> str:
    shown: Any = bound.field.widget.format_value(bound.value())  # a choice's is a list
    return str((shown[0] if isinstance(shown, list) else shown) or "")
