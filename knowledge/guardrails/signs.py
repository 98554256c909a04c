"""The signs of an attempt to instruct the model (`knowledge.guardrails.injection`) in words, for staff."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

#: By name.
SIGNS: Mapping[str, str | Promise] = {
    "override": _("wants the instructions ignored"),
    "role_play": _("gives the assistant another role"),
    "reveal_prompt": _("wants to see the instructions"),
    "encoded": _("hides an order in a code"),
    "delimiter": _("imitates the program’s own marks"),
    "exfiltrate": _("wants data sent elsewhere"),
    "forced_output": _("dictates what to answer"),
    "other_task": _("sets another task"),
    "addresses_model": _("speaks to the model, not to readers"),
    "inserted": _("shouts an order in between"),
    "hidden": _("holds invisible text"),
}
