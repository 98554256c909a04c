"""Serves an answer in plain language, where a language model is configured."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.utils.translation import gettext as _

from chat.conversations.store import own_answer
from chat.errors import Refused
from chat.models import Message
from chat.pipeline.plain_language import PlainAnswer, simplify
from chat.pipeline.reply import text_below
from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.verification.classifier import Strictness
from chat.protocol.shapes import OfficeWords
from chat.sites import rate_limits
from chat.sites.session_tokens import Session
from core.db.prepared import in_database
from core.inference.llm import client
from core.inference.llm.client import ModelUnavailable, Sampling
from knowledge.retrieval.search import RankedPassage

#: What a machine wrote or chose. Staff's own words stay theirs.
WRITTEN = (Message.Strategy.GENERATED, Message.Strategy.EXTRACTIVE)


async def put_plainly(session: Session, *, message: int, address: str) -> PlainAnswer:
    """Return the visitor's own answer in plain language. Nothing is stored. Raise NotFound, Refused, TooMany."""
    await rate_limits.count_question(visitor=session.visitor.hex, address=address, site=session.site)
    answer, candidates = await in_database(_load)(session.visitor, message)
    assistant = answer.conversation.assistant
    if not client.is_configured() or (assistant and not assistant.uses_model):
        raise Refused("no_model", _("There is no plain language here: no language model is set up."))
    if answer.status != Message.Status.COMPLETE or answer.strategy not in WRITTEN:
        raise Refused("not_plain", _("This text cannot be put into plain language."))
    if not await rate_limits.llm_quota_available():
        raise _away()
    try:
        return await simplify(
            text_below(OfficeWords(**answer.office) if answer.office else None, answer.text),
            candidates,
            language=answer.language,
            strictness=Strictness(assistant.strictness) if assistant else Strictness.STRICT,
            sampling=Sampling(assistant.model if assistant else "", 0),
            caller=session.visitor.hex,
        )
    except ModelUnavailable as error:
        raise _away() from error


def _away() -> Refused:
    return Refused("model_unavailable", _("The language model cannot be reached just now. Please try again later."))


def _load(visitor: UUID, message: int) -> tuple[Message, Sequence[Candidate]]:
    """Return the answer with the passages that it cites, as they are now; without those that are gone."""
    answer = own_answer(visitor, message)
    numbers = {each.passage_id: each.n for each in answer.citations.all() if each.passage_id is not None}
    found = load_candidates([RankedPassage(passage, 0, n, 0.0, {}) for passage, n in numbers.items()])
    return answer, [replace(each, number=numbers[each.passage_id]) for each in found]
