"""Signatures are those of the Standard Webhooks scheme."""

import base64
import hashlib
import hmac

from core.outgoing.signature import new_secret, sign

#: The worked example of the scheme's own libraries.
SECRET, ID, TIMESTAMP = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
BODY = b'{"test": 2432232314}'


def test_the_schemes_own_example_gives_its_own_signature() -> None:
    made = sign(SECRET, message_id=ID, timestamp=TIMESTAMP, body=BODY)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_id_time_and_body_are_all_signed() -> None:
    made = sign(SECRET, message_id=ID, timestamp=TIMESTAMP, body=BODY)
    assert made != sign(SECRET, message_id="msg_other", timestamp=TIMESTAMP, body=BODY)
    assert made != sign(SECRET, message_id=ID, timestamp=TIMESTAMP + 1, body=BODY)
    assert made != sign(SECRET, message_id=ID, timestamp=TIMESTAMP, body=BODY + b" ")


def test_a_secret_is_new_each_time_and_has_256_bits() -> None:
    one, other = new_secret(), new_secret()
    assert one != other
    key = base64.b64decode(one.removeprefix("whsec_"), validate=True)
    assert len(key) == 32
    expected = base64.b64encode(hmac.new(key, b"a.1.b", hashlib.sha256).digest()).decode()
    assert sign(one, message_id="a", timestamp=1, body=b"b") == f"v1,{expected}"
