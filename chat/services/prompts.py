"""Services for prompts: make a version, look at what it sends, put it to use."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from asgiref.sync import async_to_sync
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.models import Assistant, Message, ModelLayout, PromptVersion
from chat.pipeline.answering.prompt import build_prompt
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.search import find_passages, guess
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.route import understand
from chat.prompt_template import Layout, Template, question_problems, system_problems
from core.inference.llm.token_budget import estimate_tokens


@dataclass(frozen=True, slots=True)
class Preview:
    """The two messages as they would be sent, with so many sources; `tokens` is estimated by length, and `is_enough`
    says whether enough was found for them to be sent at all."""

    system: str
    user: str
    sources: int
    tokens: int
    is_enough: bool


@transaction.atomic
def make_version(*, version: PromptVersion, by: AbstractBaseUser) -> PromptVersion:
    """Save a version as the next one. Raise ValidationError by field."""
    version.created_by_id = by.pk
    check_texts(version.template)
    version.full_clean()
    version.save(force_insert=True)
    return version


def check_texts(template: Template) -> None:
    """Check both texts. Raise ValidationError by field."""
    problems = {"system": system_problems(template.system), "question": question_problems(template.question)}
    if found := {field: said for field, said in problems.items() if said}:
        raise ValidationError(found)


@transaction.atomic
def use_version(*, version: PromptVersion | None, assistant: Assistant) -> Assistant:
    """From the next question on, the assistant is told this one; None: the built-in one."""
    assistant.prompt = version
    assistant.save(update_fields=["prompt"])
    return assistant


@transaction.atomic
def switch_model(*, assistant: Assistant, is_on: bool) -> Assistant:
    """From the next question on, a language model writes for the assistant, or it quotes its pages."""
    assistant.uses_model = is_on
    assistant.save(update_fields=["uses_model"])
    return assistant


@transaction.atomic
def keep_layout(*, model: str, layout: Layout) -> None:
    """From the next question on, this model is sent the built-in texts in this layout."""
    ModelLayout.objects.update_or_create(
        model=model,
        defaults={
            "may_refuse": layout.may_refuse,
            "is_question_first": layout.is_question_first,
            "most_sources": layout.most_sources,
        },
    )


@transaction.atomic
def delete_version(*, version: PromptVersion) -> None:
    """Delete an unused version. Raise ValidationError if an assistant uses it or an answer was made with it."""
    check_unused(version)
    version.delete()


def count_answers(names: Collection[str]) -> dict[str, int]:
    """Return how many answers were made with each of the templates that have these names; one query."""
    made = Message.objects.filter(prompt__in=names).order_by().values_list("prompt")
    return dict.fromkeys(names, 0) | dict(made.annotate(count=Count("pk")))


def check_unused(version: PromptVersion) -> None:
    """Raise ValidationError if an assistant or an experiment uses the version, or an answer was made with it."""
    tried = version.experiments.values_list("name", flat=True)
    if names := ", ".join([*version.assistants.values_list("name", flat=True), *tried]):
        said = _("“%(version)s” is used by %(assistants)s: give them another version, then delete this one.")
        raise ValidationError(said % {"version": version, "assistants": names})
    if count := count_answers([version.name])[version.name]:
        said = ngettext(
            "One answer was made with “%(version)s”, so it stays as long as the answer.",
            "%(count)s answers were made with “%(version)s”, so it stays as long as they do.",
            count,
        )
        raise ValidationError(said % {"version": version, "count": count})


def preview(*, template: Template, assistant: Assistant, question: str, language: str) -> Preview:
    """Make the two messages that the model would get. Store nothing.

    Raises ValidationError for what cannot be sent, EmbeddingUnavailable, RerankerUnavailable.
    """
    check_texts(template)
    ask = replace(build_question(assistant, question, language), template=template)
    context = async_to_sync(understand)(ask)
    if not context.is_question:
        raise ValidationError(_("This message gets a fixed reply, so the model is not asked. Enter a question."))
    async_to_sync(guess)(context)
    find_passages(context, degrades=False)
    choose_sources(context)
    try:
        prompt = build_prompt(context)
    except ValueError as error:
        said = _("Texts and question together are too long for the model: shorten the texts.")
        raise ValidationError(said) from error
    return Preview(
        system=prompt.system,
        user=prompt.user,
        sources=len(prompt.candidates),
        tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user),
        is_enough=context.is_answerable,
    )
