"""Pages with a fact each, FAQs that link them, and models that write as a test says."""

import re

from analytics.model_trials.run import work_on
from analytics.model_trials.services import start_trial
from analytics.models import ModelTrial
from chat.models import Assistant
from faqs.indexing import sync_faq
from faqs.models import FAQ
from knowledge.models import Document
from tests.conftest import load_pages
from tests.factories import AssistantFactory, FAQFactory

#: What costs how much; each stands on a page of its own.
PRICES = {
    "student card": 12,
    "semester ticket": 187,
    "swimming course": 45,
    "dormitory room": 290,
    "printed transcript": 9,
    "late enrolment": 30,
    "language course": 75,
    "locker": 25,
    "parking permit": 60,
}
FIRST_SOURCE = re.compile(r"^\[1\] .*\n(?:#.*\n|\n)*(?P<sentence>[^\n]*?\.)", re.MULTILINE)


def price_pages(count: int = len(PRICES)) -> Assistant:
    """Make an assistant with so many pages and published FAQs, all indexed."""
    chosen = dict(list(PRICES.items())[:count])
    load_pages(
        [
            {
                "url": f"https://www.uni.example/{thing.replace(' ', '-')}",
                "title": thing.capitalize(),
                "text": f"The price of the {thing} is {price} euros. Pay for the {thing} at the service desk.",
            }
            for thing, price in chosen.items()
        ]
    )
    for thing, price in chosen.items():
        faq = FAQFactory(
            question=f"What is the price of the {thing}?",
            status=FAQ.Status.PUBLISHED,
            documents=[Document.objects.get(title=thing.capitalize())],
            reference_answer=f"It costs {price} euros.",
        )
        sync_faq(faq.pk)
    assistant: Assistant = AssistantFactory()
    return assistant


def copy_first_source(prompt: str) -> str:
    """Write the first source's first sentence, as a model does that is right."""
    found = FIRST_SOURCE.search(prompt)
    return f"{found['sentence']} [1]" if found else "I do not know."


def refuse_if_permitted(prompt: str) -> str:
    """Write as small models do: they refuse whenever they may."""
    return "NO_ANSWER" if "NO_ANSWER" in prompt else copy_first_source(prompt)


def run_trial(assistant: Assistant) -> ModelTrial:
    """Start a trial and work on it to its end."""
    trial = start_trial(assistant=assistant)
    work_on(trial.pk)
    trial.refresh_from_db()
    return trial
