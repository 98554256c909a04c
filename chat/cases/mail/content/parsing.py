"""Reads a mail as it came: who sent it, to whom, what it says, and the names of what is attached."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses

from chat.cases.mail.content.html_text import html_to_text

#: Where the signed address may stand: the envelope's recipient as mail servers note it, then what the sender wrote.
RECIPIENTS = ("Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc")
#: As the table holds it.
ID_CHARACTERS = 250
#: Characters of a text that are looked at, many times what is kept; more is quoted mails.
TEXT_CHARACTERS = 200_000
NAME_CHARACTERS = 80
#: Signatures of mail programs, which nobody attached.
NO_ATTACHMENTS = {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}


@dataclass(frozen=True, slots=True)
class IncomingMail:
    """A mail; `sender` is empty unless exactly one address is given. `attachments` are names, without content."""

    message: Message
    sender: str
    recipients: tuple[str, ...]
    mail_id: str
    text: str
    attachments: tuple[str, ...]


def parse_mail(raw: bytes) -> IncomingMail:
    """Return the mail, or of a mail's headers alone what they say."""
    message = message_from_bytes(raw)
    senders = _addresses(message, "From")
    text, attachments = _content(message)
    return IncomingMail(
        message=message,
        sender=senders[0].lower() if len(senders) == 1 else "",
        recipients=tuple(dict.fromkeys(each for name in RECIPIENTS for each in _addresses(message, name))),
        mail_id=_mail_id(message, raw),
        text=text,
        attachments=attachments,
    )


def _addresses(message: Message, name: str) -> list[str]:
    return [address for _name, address in getaddresses([str(each) for each in message.get_all(name, [])])]


def _mail_id(message: Message, raw: bytes) -> str:
    found = str(message.get("Message-ID", "")).strip()
    if re.fullmatch(r"<[^<>\s]+>", found) and len(found) <= ID_CHARACTERS:
        return found
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


def _content(message: Message) -> tuple[str, tuple[str, ...]]:
    plain: list[str] = []
    rich: list[str] = []
    attachments: list[str] = []
    for part in _leaves(message):
        kind = part.get_content_type()
        if kind in NO_ATTACHMENTS:
            continue
        name = _file_name(part)
        is_attached = part.get_content_disposition() == "attachment" or bool(name)
        if kind == "text/plain" and not is_attached:
            plain.append(_decoded(part))
        elif kind == "text/html" and not is_attached:
            rich.append(_decoded(part))
        else:
            attachments.append(name or kind)
    text = "\n".join(plain)
    if not text.strip():
        text = "\n".join(html_to_text(each) for each in rich)
    return text[:TEXT_CHARACTERS], tuple(attachments)


def _leaves(message: Message) -> Iterator[Message]:
    """Return the parts that hold something; a mail that is attached is one."""
    parts = message.get_payload()
    if message.get_content_maintype() == "multipart" and isinstance(parts, list):
        for part in parts:
            if isinstance(part, Message):
                yield from _leaves(part)
    else:
        yield message


def _decoded(part: Message) -> str:
    """Return a part's text; what its charset does not know becomes a replacement character."""
    content = part.get_payload(decode=True)
    source = content if isinstance(content, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    try:
        text = source.decode(charset, "replace")
    except (LookupError, ValueError):
        text = source.decode("utf-8", "replace")
    text = text.replace("\r\n", "\n")
    return _unwrapped(text) if str(part.get_param("format", "")).lower() == "flowed" else text


def _unwrapped(text: str) -> str:
    """Join the lines of paragraphs that the mail program wrapped (RFC 3676)."""
    joined: list[str] = []
    is_open = False
    for line in text.split("\n"):
        if is_open and not line.startswith((">", "-- ")):
            joined[-1] += line
        else:
            joined.append(line)
        is_open = line.endswith(" ") and line != "-- "
    return "\n".join(joined)


def _file_name(part: Message) -> str:
    try:
        name = str(make_header(decode_header(part.get_filename() or "")))
    except (HeaderParseError, LookupError, ValueError):
        name = part.get_filename() or ""
    return " ".join("".join(each for each in name if each.isprintable()).split())[:NAME_CHARACTERS]
