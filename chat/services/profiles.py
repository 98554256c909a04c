"""Services for retrieval profiles: check and save, and name what this server lacks to run one."""

from collections.abc import Sequence
from itertools import count

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from chat.models import ProfileLeg, RetrievalProfile
from core.inference.llm import client

Retriever = ProfileLeg.Retriever
#: Ways to match FAQs, of which a profile has one.
FAQ_RETRIEVERS = (Retriever.FAQ, Retriever.NEAREST_FAQ, Retriever.HARD_FAQ)
MOST_CHARACTERS = 50


@transaction.atomic
def save_profile(*, profile: RetrievalProfile, legs: Sequence[ProfileLeg]) -> RetrievalProfile:
    """Save it; `legs` take the place of those it had. Raise ValidationError."""
    check_own(profile)
    profile.full_clean()
    check_legs(legs)
    check_use(profile)
    profile.save()
    profile.legs.all().delete()
    ProfileLeg.objects.bulk_create(
        ProfileLeg(profile=profile, retriever=leg.retriever, weight=leg.weight, k=leg.k) for leg in legs
    )
    return profile


@transaction.atomic
def clone_profile(*, profile: RetrievalProfile) -> RetrievalProfile:
    """Make a copy that can be changed, under a name of its own."""
    legs = list(profile.legs.all())
    copy = RetrievalProfile.objects.get(pk=profile.pk)
    copy.pk, copy._state.adding = None, True
    copy.name, copy.is_built_in = _free_name(profile.name), False
    return save_profile(profile=copy, legs=legs)


@transaction.atomic
def delete_profile(*, profile: RetrievalProfile) -> None:
    """Raise ValidationError for a built-in one, and one that an assistant or an experiment uses."""
    check_own(profile)
    if names := _users(profile):
        said = _("“%(profile)s” is used by %(assistants)s: give them another profile, then delete this one.")
        raise ValidationError(said % {"profile": profile, "assistants": names})
    profile.delete()


def check_own(profile: RetrievalProfile) -> None:
    """Raise ValidationError for one that is the code's."""
    if profile.is_built_in:
        raise ValidationError(_("Built-in profiles stay as they are: copy one and change the copy."))


def check_legs(legs: Sequence[ProfileLeg]) -> None:
    """Raise ValidationError for retrievers that together find nothing, or contradict one another."""
    if not legs:
        raise ValidationError(_("Choose at least one retriever: without one nothing is found."))
    if not any(leg.weight > 0 for leg in legs):
        raise ValidationError(_("Every weight is 0, so nothing would be ranked: give one retriever more."))
    if len([leg for leg in legs if leg.retriever in FAQ_RETRIEVERS]) > 1:
        raise ValidationError(_("Several FAQ retrievers at once would count every FAQ twice: choose one of them."))


def check_use(profile: RetrievalProfile) -> None:
    """Raise ValidationError if the assistants that use it could no longer answer."""
    if profile.pk and needs_reranker(profile) and (names := _users(profile)):
        said = _("%(assistants)s could no longer answer: this profile is in use, and no reranking model is set up.")
        raise ValidationError({"rerank_first": said % {"assistants": names}})


def check_usable(profile: RetrievalProfile) -> None:
    """Raise ValidationError if an assistant with this profile could not answer."""
    if needs_reranker(profile):
        said = _("“%(profile)s” reranks, but no reranking model is set up: choose a profile that does not rerank.")
        raise ValidationError(said % {"profile": profile})


def needs_reranker(profile: RetrievalProfile) -> bool:
    """Return whether it reranks and there is nothing to do it with."""
    return bool(profile.rerank_first) and not settings.RERANKER_MODEL


def lacking(profile: RetrievalProfile) -> list[str]:
    """Return what this server lacks for this profile, and how to get it."""
    found = []
    if needs_reranker(profile):
        found.append(
            _("It reranks, but no reranking model is set up: it can neither be tried nor given to an assistant.")
        )
    if not client.is_configured() and any(leg.retriever == Retriever.HYDE for leg in profile.legs.all()):
        found.append(_("HyDE needs a language model: until there is one, it finds nothing."))
    return found


def _users(profile: RetrievalProfile) -> str:
    """Return the names of the assistants that use it, and of the experiments that try it."""
    tried = profile.experiments.values_list("name", flat=True)
    return ", ".join([*profile.assistants.values_list("name", flat=True), *tried])


def _free_name(name: str) -> str:
    for number in count(1):
        ending = "-copy" if number == 1 else f"-copy-{number}"
        candidate = name[: MOST_CHARACTERS - len(ending)] + ending
        if not RetrievalProfile.objects.filter(name=candidate).exists():
            return candidate
    raise AssertionError("unreachable")
