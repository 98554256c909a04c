"""Requests in OpenAI's form: what of them is read. Everything else, such as a temperature or tools, is ignored."""

from typing import Any, Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _
from pydantic import BaseModel, Field, ValidationError

from chat.openai_api.errors import BadRequest

#: A conversation is sent anew with each question; a long one takes a tenth of it.
MOST_BYTES = 1_000_000
#: Roles whose messages are the conversation. What others say (system, developer, tool) is not read.
SPEAKERS = ("user", "assistant")


class Part(BaseModel):
    """A part of a message: its text, or something else, such as a picture."""

    type: str
    text: str = ""


class ChatMessage(BaseModel):
    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Return its text without what is not text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in {"text", "input_text"})
        return self.content or ""

    @property
    def has_other_parts(self) -> bool:
        return isinstance(self.content, list) and any(part.type not in {"text", "input_text"} for part in self.content)


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    """The body of `POST /v1/chat/completions`."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = 1

    @property
    def wants_usage(self) -> bool:
        """Return whether the stream ends with the tokens that were used."""
        return bool(self.stream_options and self.stream_options.include_usage)

    def split(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the question and what was said before it, as (role, text). Raise BadRequest."""
        said = [message for message in self.messages if message.role in SPEAKERS]
        if not said or said[-1].role != "user":
            raise BadRequest(_("The last message must be the user’s question."), param="messages", code="no_question")
        question = said[-1]
        if question.has_other_parts:
            raise BadRequest(_("Only text can be asked: no pictures, sound or files."), param="messages")
        return question.text, [(message.role, message.text) for message in said[:-1]]


def read_body(request: HttpRequest) -> ChatRequest:
    """Read a request's body. Raise BadRequest, which names the parts that are wrong and never what they hold."""
    body = request.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise BadRequest(_("This request is too large."), code="request_too_large", status=413)
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        raise _as_bad_request(error.errors(include_url=False, include_input=False)) from error


def _as_bad_request(problems: list[Any]) -> BadRequest:
    first = problems[0]
    if first["type"] == "json_invalid":
        return BadRequest(_("The request’s body is not valid JSON."), code="invalid_json")
    param = ".".join(map(str, first["loc"])) or None
    return BadRequest(f"{param or 'body'}: {first['msg']}", param=param)
