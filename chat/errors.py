"""Reasons for which a visitor's request is refused."""


class Refused(Exception):
    """A question that is not answered; `detail` tells the student what to do."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code, self.detail = code, detail


class NotFound(Exception):
    """It does not exist, or it is somebody else's: the visitor is told the same."""


class Busy(Refused):
    """Another answer in the conversation is being written."""


class TooMany(Refused):
    """`retry_after` is in seconds."""

    retry_after: int = 60
