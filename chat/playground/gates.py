"""Whether a document may be found at all, whatever is asked: what `chat.playground.diagnosing` begins with; pure."""

from collections.abc import Iterator

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.clarifying import label_of
from chat.playground.facts import Facts, Standing
from chat.playground.findings import Finding, blocks, note, passes
from knowledge.models import Document
from knowledge.retrieval.scoping import kind_of


def gates_of(facts: Facts) -> Iterator[Finding]:
    """In the order of the work; all that block it are told, not the first alone."""
    standing = facts.standing
    if not facts.is_question:
        yield blocks(
            "no_question",
            _("The message was not taken for a question, so nothing was looked up."),
            _("Ask in a whole sentence."),
        )
    yield from _publication(standing)
    yield from _validity(standing, facts)
    yield from _whose(standing, facts)
    yield from _index(standing)


def _publication(standing: Standing) -> Iterator[Finding]:
    if standing.status == Document.Status.ARCHIVED:
        text = _("The document is archived: archived documents are not used in answers.")
        yield blocks("archived", text, _("Publish it again, if it still holds."))
    elif standing.status != Document.Status.PUBLISHED:
        yield blocks("draft", _("The document is a draft: only published ones are used in answers."), _("Publish it."))
    else:
        yield passes("published", _("The document is published."))


def _validity(standing: Standing, facts: Facts) -> Iterator[Finding]:
    advice = _("Correct the dates, if they are wrong.")
    if standing.valid_from and standing.valid_from > facts.scope.on:
        text = _("It is valid only from %(day)s on.") % {"day": date_format(standing.valid_from)}
        yield blocks("not_valid_yet", text, advice)
    elif standing.valid_until and standing.valid_until < facts.scope.on:
        yield blocks("expired", _("It was valid until %(day)s.") % {"day": date_format(standing.valid_until)}, advice)
    elif standing.valid_from or standing.valid_until:
        yield passes("valid", _("It is valid today."))


def _whose(standing: Standing, facts: Facts) -> Iterator[Finding]:
    """Whether it is in what was searched, and for whoever asks."""
    names = {"collection": standing.collection, "searched": ", ".join(facts.searched) or "–"}
    if standing.collection_id not in facts.scope.collection_ids:
        text = _("Its collection, “%(collection)s”, was not searched; searched were: %(searched)s.") % names
        advice = _("Add the collection to those of the assistant, or move the document.")
        yield blocks("other_collection", text, advice)
    else:
        yield passes("searched", _("Its collection, “%(collection)s”, was searched.") % names)
    own, asked = standing.language.partition("-")[0], facts.question_language
    if facts.scope.language and own != facts.scope.language:
        text = _("Only documents in “%(searched)s” were searched; it is in “%(own)s”.")
        yield blocks("other_language", text % {"searched": facts.scope.language, "own": own})
    elif asked and own != asked:
        text = _(
            "It is in “%(own)s”, the question in “%(asked)s”: they share few words, so only meaning can join them."
        )
        yield note("language_differs", text % {"own": own, "asked": asked})
    for kind in sorted({kind_of(tag) for tag in facts.scope.audience}):
        tags = [tag for tag in standing.audience if kind_of(tag) == kind]
        if tags and not set(tags) & set(facts.scope.audience):
            text = _("It is for others than who asks: %(audience)s.") % {"audience": ", ".join(map(label_of, tags))}
            yield blocks("other_audience", text, _("Correct its audience, if it is wrong."))


def _index(standing: Standing) -> Iterator[Finding]:
    advice = _("Wait a moment; where that does not help, index it anew from the list of documents.")
    if standing.indexed is None:
        yield blocks("not_indexed", _("It is not indexed yet, so no search can find it."), advice)
    elif not standing.passages:
        text = _("No passage was made of it: it has no text.")
        yield blocks("no_passages", text, _("Give it a text; where it comes from a file, see whether that is a scan."))
    elif standing.withheld == standing.passages:
        text = _("All its passages are withheld, since they seem to speak to a program.")
        yield blocks("withheld", text, _("Check them under “Flagged passages”, and clear what is harmless."))
    elif not standing.indexed:
        yield note("older_state", _("The index still holds an older state of it."), advice)
    else:
        text = ngettext(
            "It is indexed, as %(count)d passage.", "It is indexed, as %(count)d passages.", standing.passages
        )
        yield passes("indexed", text % {"count": standing.passages})
        if standing.withheld:
            text = ngettext("%(count)d of them is withheld.", "%(count)d of them are withheld.", standing.withheld)
            advice = _("Check them under “Flagged passages”, and clear what is harmless.")
            yield note("some_withheld", text % {"count": standing.withheld}, advice)
