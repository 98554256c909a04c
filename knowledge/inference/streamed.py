"""What a streamed answer says, read from its chunks: only what the assistant writes is the answer."""

from typing import Any

ASSISTANT = "assistant"


class StreamedAnswer:
    """What has come so far. `usage` is (prompt tokens, answer tokens) where the endpoint reported them."""

    def __init__(self) -> None:
        self.is_finished = False
        self.usage: tuple[int, int] | None = None
        self.characters = 0
        self._pieces: list[str] = []
        self._role = ASSISTANT

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, chunk: Any) -> str:
        """The text that this chunk adds, "" where none; raises TypeError where it is of another form.

        A role holds for the chunks after it too, until another is named. What another role says, a second choice
        and tool calls are no part of the answer.
        """
        spent = getattr(chunk, "usage", None)
        counts = (getattr(spent, "prompt_tokens", None), getattr(spent, "completion_tokens", None))
        if all(isinstance(count, int) for count in counts):
            self.usage = counts  # type: ignore[assignment]
        added = ""
        for choice in chunk.choices or ():
            if choice.index:
                continue
            if choice.delta:
                self._role = choice.delta.role or self._role
                if choice.delta.content and self._role == ASSISTANT:
                    if not isinstance(choice.delta.content, str):
                        raise TypeError("content is no text")
                    added += choice.delta.content
            self.is_finished = self.is_finished or choice.finish_reason is not None
        if added:
            self._pieces.append(added)
            self.characters += len(added)
        return added
