"""The alerts of `docker/monitoring/alerts.yml`: where the doctor looks for the cause of each, and what else to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alert:
    """`means` is what people notice, `looks` are the doctor's that find the cause, `todo` is what is left to do."""

    means: str
    looks: Sequence[str]
    todo: str


LOG = "Search the log of that time for lines of the level error; each names its request."
ALERTS: Mapping[str, Alert] = {
    "MarcelWebDown": Alert(
        "Students whom this web process served get no answer, unless another one is there.",
        ("settings", "database", "valkey", "migrations", "way in"),
        "Look at the process and its last lines of the log, and start it again.",
    ),
    "MarcelWorkerSilent": Alert(
        "Tasks of that queue wait: edits are not found, files are not read, e-mails are not sent.",
        ("valkey", "database", "workers"),
        "Look at the worker's last lines of the log. What it was doing begins again by itself.",
    ),
    "MarcelBeatSilent": Alert(
        "Nothing happens by the clock: no deletion, no crawl, no report.", ("valkey", "beat", "workers"), ""
    ),
    "MarcelQueueLong": Alert(
        "Staff wait for what they edited, uploaded or asked for.",
        ("workers", "connections", "embeddings"),
        "A large crawl or import fills a queue for hours and is no fault. If it grows on, start another worker.",
    ),
    "MarcelTasksFail": Alert(
        "Something that staff or the clock began was not done.",
        ("database", "valkey", "disk", "embeddings", "mail server", "mailbox"),
        f"The admin's home page lists jobs that failed. {LOG}",
    ),
    "MarcelIndexLate": Alert(
        "Students are still answered from the earlier text.", ("workers", "embeddings", "index"), ""
    ),
    "MarcelReplicaUnused": Alert(
        "Searches and dashboards ask the primary, which has more to do; nobody is answered less well.",
        ("replica", "database"),
        "If the standby only lags, look at its disk, the network, and long queries there. It is read again by itself.",
    ),
    "MarcelModelFailing": Alert(
        "Answers are quotes of pages until it is back; none is lost.",
        ("language model",),
        "Look at the model's server: memory, its log, whether it is still loading.",
    ),
    "MarcelAnswersFail": Alert(
        "Students read that something went wrong.", ("database", "valkey", "embeddings", "language model"), LOG
    ),
    "MarcelAbstainsMore": Alert(
        "More students than usual read that there is no answer.",
        ("index", "embeddings", "language model"),
        "“Inbox” in the admin shows what was asked in vain. A website visit may have archived pages: see “Website "
        "visits”. A new retrieval profile, model or strictness takes effect at once: see the assistant's history.",
    ),
    "MarcelFirstWordSlow": Alert(
        "Students wait.",
        ("language model", "connections", "pooler", "embeddings"),
        "Compare `marcelcms_llm_seconds` with `marcelcms_retrieval_seconds`: a slow model needs more room or fewer "
        "students at once (LLM_CONCURRENCY), slow retrieval more memory or another web process.",
    ),
    "MarcelServerErrors": Alert(
        "Pages or requests of programs end in an error.", ("database", "valkey", "migrations", "disk"), LOG
    ),
}
