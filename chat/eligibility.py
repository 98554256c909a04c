"""Questions whose answer is somebody else's decision: whether one is admitted, eligible, or gets something; pure."""

import re

ASKS_FOR_DECISION = re.compile(
    r"\b(?:am i|are we|would i be|will i be|can i (?:still )?be|could i be) (?:\w+ )?"
    r"(?:eligible|qualified|admitted|accepted|entitled|allowed to (?:apply|enrol|study))"
    r"|\bdo i (?:\w+ )?(?:qualify|meet the (?:\w+ )?requirements|have a chance|stand a chance)"
    r"|\b(?:will|would) (?:i get in|you (?:accept|admit) me|my \w+ be (?:accepted|recognised|recognized|approved))"
    r"|\b(?:is|are) my (?:\w+ ){1,3}(?:enough|sufficient|good enough|accepted)"
    r"|\bbin ich (?:\w+ )?(?:zugelassen|berechtigt|qualifiziert|geeignet)"
    r"|\b(?:werde|würde) ich (?:\w+ )?(?:zugelassen|angenommen|genommen)"
    r"|\berfülle ich (?:\w+ )*(?:voraussetzung|bedingung|anforderung)"
    r"|\b(?:habe|hätte) ich (?:\w+ )*(?:chance|anspruch)"
    r"|\b(?:reicht|reichen|genügt) mein"
    r"|\bwird mein\w* (?:\w+ )*(?:anerkannt|akzeptiert|angerechnet)",
    re.IGNORECASE,
)


def asks_for_decision(question: str) -> bool:
    return bool(ASKS_FOR_DECISION.search(question))
