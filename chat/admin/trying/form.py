"""The form of “Try a question”, as the page's address holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, Value
from django.db.models.functions import MD5
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from chat.errors import Refused
from chat.models import Assistant, Citation, Conversation, Message, RetrievalProfile
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES, clean_question
from chat.pipeline.question import Question, build_question
from chat.pipeline.retrieval.profiles import get_profile
from chat.prompt_template import HISTORY_CHARACTERS, HISTORY_MESSAGES
from core.access import sees_everything
from knowledge.models import Collection, Document

Staff = User | AnonymousUser
#: Earlier questions with their answers.
MOST_PAIRS = HISTORY_MESSAGES // 2


def profiles_after(first: Any) -> list[tuple[str, Any]]:
    return [("", first), *((profile.name, profile.choice_label) for profile in RetrievalProfile.objects.for_choice())]


class DocumentSelect(AutocompleteSelect):
    """Chosen by a part of the title; nothing is chosen where the address holds what is no document's number."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> Any:
        return super().optgroups(name, [each for each in value if is_number(str(each))], attr)


def is_number(text: str) -> bool:
    """Return whether it can be a row's number."""
    return text.isdecimal() and len(text) < 19


class TryForm(forms.Form):
    """`asked` and `answered`, once for each earlier pair, are read beside the fields."""

    most_characters = HISTORY_CHARACTERS

    question = forms.CharField(
        label=_("Question"), required=False, strip=False, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    assistant = forms.ModelChoiceField(
        label=_("Assistant"), required=False, queryset=Assistant.objects.none(), empty_label=None
    )
    profile = forms.ChoiceField(
        label=_("Retrieval profile"),
        required=False,
        choices=lambda: profiles_after(_("as the assistant has it")),
    )
    versus = forms.ChoiceField(
        label=_("Compare with"), required=False, choices=lambda: profiles_after(_("no other profile"))
    )
    collection = forms.ModelMultipleChoiceField(
        label=_("Collections"),
        required=False,
        queryset=Collection.objects.none(),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: those that students are answered from."),
    )
    document = forms.ModelChoiceField(
        label=_("Document"),
        required=False,
        queryset=Document.objects.none(),
        error_messages={"invalid_choice": _("There is no such document among those that you look after.")},
    )
    address = forms.CharField(
        label=_("or its address"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url"}),
        help_text=_("Type a part of the title, or give the page’s address: archived pages are found by that alone."),
    )

    class Media:
        css = {"all": ["chat/playground.css"]}

    def __init__(
        self, data: QueryDict | None, *, initial: Mapping[str, Any], user: Staff, may_see_documents: bool
    ) -> None:
        """Offers what the member of staff looks after; a data set's collection only where the address names it."""
        super().__init__(data, initial=dict(initial), label_suffix="")
        self.user = user
        self.pairs = self.initial.get("pairs", []) if data is None else _query_pairs(data)
        named = [] if data is None else data.getlist("collection")
        collections = Collection.objects.visible_to(user)
        self._choice("collection").queryset = collections.filter(Q(for_evaluation=False) | Q(slug__in=named))
        self.assistants = Assistant.objects.visible_to(user).select_related("profile", "prompt")
        self._choice("assistant").queryset = self.assistants
        if may_see_documents:
            self._choice("document").queryset = Document.objects.visible_to(user).select_related("collection")
            self.fields["document"].widget = widget = DocumentSelect(
                Citation._meta.get_field("document"), admin.site, attrs={"data-width": "100%"}
            )
            widget.choices = self._choice("document").choices

    def _choice(self, name: str) -> Any:
        return self.fields[name]

    @property
    def pairs_shown(self) -> Sequence[tuple[str, str]]:
        """Those that were said, and an empty one to fill in."""
        return [*self.pairs, ("", "")][:MOST_PAIRS]

    # --- checking ---

    def clean_question(self) -> str:
        try:
            return clean_question(self.cleaned_data["question"], limit=settings.QUESTION_MAX_CHARACTERS)
        except Refused as refused:
            raise forms.ValidationError(refused.detail, code=refused.code) from refused

    def clean_assistant(self) -> Assistant | None:
        return self.cleaned_data["assistant"] or self.assistants.order_by("pk").first()

    def clean_address(self) -> Document | None:
        """Find the document at it, with or without a slash at its end; raise ValidationError for none or several."""
        address = self.cleaned_data["address"].replace("\x00", "")
        if not address:
            return None
        turned = address.removesuffix("/") if address.endswith("/") else f"{address}/"
        found = self._found_at(address) or self._found_at(turned)
        if len(found) > 1:
            raise forms.ValidationError(_("Several documents have this address: choose one by its title."))
        if not found:
            raise forms.ValidationError(_("There is no such document among those that you look after."))
        return found[0]

    def _found_at(self, address: str) -> list[Document]:
        """Two at most, which are too many."""
        # The expression of the index `document_by_url`.
        documents = self._choice("document").queryset.alias(digest=MD5("url"))
        return list(documents.filter(digest=MD5(Value(address)))[:2])

    def clean(self) -> None:
        cleaned = self.cleaned_data
        self._check_pairs()
        if cleaned.get("versus") and cleaned["versus"] == self._profile_name():
            self.add_error("versus", _("That is the same profile: choose another one to compare with."))
        is_left_open = "assistant" in cleaned and "collection" in cleaned and not cleaned["collection"]
        if is_left_open and cleaned["assistant"] is None and not sees_everything(self.user):
            cleaned["collection"] = self._choice("collection").queryset.filter(for_evaluation=False)
            if not cleaned["collection"]:
                raise forms.ValidationError(
                    _("You look after no assistant and no collection, so there is nothing to ask.")
                )

    def _check_pairs(self) -> None:
        if len(self.pairs) > MOST_PAIRS:
            self.add_error(None, _("Give at most %(most)d earlier questions.") % {"most": MOST_PAIRS})
        if any(not asked for asked, _answered in self.pairs):
            self.add_error(None, _("An earlier answer needs its question."))
        if any(len(text) > HISTORY_CHARACTERS for pair in self.pairs for text in pair):
            text = _("Please shorten what was said before to %(most)d characters each.")
            self.add_error(None, text % {"most": HISTORY_CHARACTERS})

    def _profile_name(self) -> str:
        assistant = self.cleaned_data.get("assistant")
        own = assistant.profile.name if assistant and assistant.profile else "default"
        return self.cleaned_data.get("profile") or own

    # --- what was chosen ---

    @property
    def chosen_document(self) -> Document | None:
        chosen: Document | None = self.cleaned_data.get("document") or self.cleaned_data.get("address")
        return chosen

    def asks(self) -> list[Question]:
        """Build the questions to the assistant, with one profile or with two; raise UnknownProfile."""
        cleaned = self.cleaned_data
        ask = build_question(cleaned["assistant"], cleaned["question"], (get_language() or "en")[:2])
        said = [(role, text) for pair in self.pairs for role, text in zip(("user", "assistant"), pair, strict=True)]
        ask = replace(ask, history=tuple(turn for turn in said if turn[1]))
        if cleaned["collection"]:
            ask = replace(ask, collections=tuple(collection.slug for collection in cleaned["collection"]))
        if cleaned["profile"]:
            ask = replace(ask, profile=get_profile(cleaned["profile"]))
        return [ask, replace(ask, profile=get_profile(cleaned["versus"]))] if cleaned["versus"] else [ask]


def _query_pairs(query: QueryDict) -> list[tuple[str, str]]:
    """Without those that are empty."""
    said = zip_longest(query.getlist("asked"), query.getlist("answered"), fillvalue="")
    pairs = [(_cleaned(asked), _cleaned(answered)) for asked, answered in said]
    return [pair for pair in pairs if any(pair)]


def _cleaned(text: str) -> str:
    return LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", text.replace("\r\n", "\n"))).strip()


def asked_before(*, message_id: str, user: Staff) -> dict[str, Any] | None:
    """Return a form's initial values from a student's question and its history; None if it must not be seen.

    Earlier texts are cut to what the model is told of them, so that an address can hold them.
    """
    if not is_number(message_id) or not user.has_perm("chat.view_conversation"):
        return None
    questions = Message.objects.filter(role=Message.Role.USER, conversation__in=Conversation.objects.visible_to(user))
    message = questions.without_help().select_related("conversation").filter(pk=int(message_id)).first()
    if message is None:
        return None
    earlier = Message.objects.filter(conversation=message.conversation_id, pk__lt=message.pk).exclude(text="")
    earlier = earlier.without_help()
    said = reversed(earlier.order_by("-pk").values_list("role", "text")[:HISTORY_MESSAGES])
    pairs: list[tuple[str, str]] = []
    for role, text in said:
        if role == Message.Role.USER:
            pairs.append((text[:HISTORY_CHARACTERS], ""))
        elif pairs:
            pairs[-1] = (pairs[-1][0], text[:HISTORY_CHARACTERS])
    return {"question": message.text, "assistant": message.conversation.assistant_id, "pairs": pairs}
