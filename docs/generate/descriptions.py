"""Descriptions of each environment variable, in the order of the page; the rest of the page comes from the code."""

#: By section, then by variable. `variables.page` refuses a variable that is missing here, and one that is no more.
SECTIONS = {
    "Where things are": {
        "DATABASE_URL": "PostgreSQL 16 or later with pgvector, as `postgresql://user:password@host:5432/name`.",
        "DATABASE_PASSWORD": "The database's password, where `DATABASE_URL` has none.",
        "PGBOUNCER": "`true` where `DATABASE_URL` is that of a PgBouncer in transaction mode.",
        "DATABASE_REPLICA_URL": "A standby of that server in streaming replication, which searches and dashboards read "
        "from. `DATABASE_PASSWORD` is its password too. Empty: everything is read from `DATABASE_URL`.",
        "DATABASE_REPLICA_LAG_SECONDS": "How old what the standby has may be. Beyond it the primary is read.",
        "REPLICA_PGBOUNCER": "`true` where `DATABASE_REPLICA_URL` is that of a PgBouncer in transaction mode.",
        "HNSW_EF_SEARCH": "How many candidates pgvector keeps while it looks for the nearest passages. More find more "
        "of them and take longer: worth it above 200,000 passages. A PgBouncer has to set it too.",
        "REDIS_URL": "Redis or Valkey for live events and limits, as `redis://host:6379/0`.",
        "BROKER_URL": "The same for jobs, such as another database of that server: `redis://host:6379/1`.",
        "STATE_DIR": "The folder for uploaded files, collected static files and converted models. `make run` keeps its "
        "database there too.",
        "LEXICAL_INDEX_FOLDER": "The folder of the lexical index, which the processes of a machine share, on a "
        "local disk. It is made from the database and needs no backup. Empty: each process keeps its own in memory.",
        "PORT": "Where `make run` listens. Without it: the first free port from 8000 on.",
        "PUBLIC_URL": "Where browsers reach this server. Citations of imported PDFs and links in e-mails open below "
        "it.",
        "EMAIL_URL": "The mail server for e-mails to staff and students, as `smtp://user:password@host:587?tls=true`, "
        "or `smtps://user:password@host` for TLS from the start. Without one no e-mail is sent.",
        "DEFAULT_FROM_EMAIL": "Whom they are from, such as `MarcelCMS <marcel@uni.example>`. Needed with `EMAIL_URL`.",
        "MAIL_LANGUAGE": "The language of those to staff: `en` or `de`.",
        "CASE_MAIL_ADDRESS": "Where students' replies to an office's e-mails arrive, such as "
        "`replies@chat.uni.example`. Mail to `replies+…@` must arrive there too. Without it students "
        "reply in the chat.",
        "IMAP_URL": "The mailbox of that address, as `imaps://user:password@host:993/INBOX`, or "
        "`imap://user:password@host?tls=true`. It is read every minute, and what was read is deleted from it.",
        "TIME_ZONE": "The university's time zone: when a FAQ begins to hold, and what a day is in figures.",
    },
    "Security": {
        "SECRET_KEY": "Signs sessions and tokens. Make one of 50 random characters, and keep it secret. Another one "
        "ends every session.",
        "ALLOWED_HOSTS": "The names that this server answers to.",
        "CSRF_TRUSTED_ORIGINS": "Origins that forms may come from, such as `https://chat.uni.example`, where a proxy "
        "ends TLS.",
        "HTTPS": "`true` behind TLS: cookies go over TLS only, HTTP leads to HTTPS, and browsers are told to remember "
        "that (HSTS).",
        "DEBUG": "Never `true` where anybody else can reach the server: error pages would show its insides.",
        "TRUSTED_PROXIES": "How many proxies stand before the server. So many entries at the end of `X-Forwarded-For` "
        "are theirs and are believed.",
        "LOGIN_FAILURES": "How many wrong passwords for one name from one address are let through before that pair "
        "has to wait.",
        "LOGIN_WAIT_MINUTES": "How long it has to wait.",
    },
    "Sign-on of staff": {
        "OIDC_ISSUER": "The OpenID Connect provider of the university's directory, as it names itself, such as "
        "`https://login.uni.example/realms/staff`. Empty: staff log in with names and passwords alone.",
        "OIDC_CLIENT_ID": "What this product is called there. Needed with `OIDC_ISSUER`.",
        "OIDC_CLIENT_SECRET": "Its secret there. Empty for a public client; PKCE is used either way.",
        "OIDC_SCOPES": "What is asked for, separated by blanks.",
        "OIDC_GROUPS_CLAIM": "The claim that holds a person's groups, in the ID token or at the userinfo endpoint.",
        "SAML_IDP_ENTITY_ID": "The SAML identity provider of the university, as it names itself. Instead of "
        "`OIDC_ISSUER`.",
        "SAML_IDP_METADATA": "The provider's metadata, or its federation's, as XML. `SAML_IDP_METADATA_FILE` "
        "names a file.",
        "SAML_KEY": "The private key that signs requests and reads encrypted answers, as PEM. "
        "`SAML_KEY_FILE` names a file.",
        "SAML_CERTIFICATE": "The certificate of that key, as PEM. `SAML_CERTIFICATE_FILE` names a file.",
        "SAML_SUBJECT_ATTRIBUTE": "The attribute that names a person and never changes; `NameID` takes a "
        "persistent one.",
        "SAML_GROUPS_ATTRIBUTE": "The attribute that holds a person's groups.",
        "SIGN_ON_LABEL": "What the button says after “Log in with”. Empty: “your university account”.",
        "SIGN_ON_LINK_BY_EMAIL": "`true` where the directory's verified e-mail addresses may be trusted: an account "
        "that was here before then becomes that of who has its address there, unless it is a superuser's.",
        "SIGN_ON_SESSION_HOURS": "After so many hours a session ends, and the next login reads the groups again.",
        "LOCAL_LOGIN": "`false` where names and passwords of this product no longer log in. Needs "
        "`OIDC_ISSUER` or `SAML_IDP_ENTITY_ID`.",
        "BREAK_GLASS_USER": "The one account whose name and password log in whatever `LOCAL_LOGIN` says and whether or "
        "not the directory answers.",
    },
    "Language model": {
        "LLM_BASE_URL": "An OpenAI-compatible endpoint, such as `http://vllm:8000/v1`. Without one, pages are quoted.",
        "LLM_API_KEY": "Its key, where it wants one.",
        "LLM_MODEL": "The model to ask for. An assistant may name another one.",
        "LLM_FIRST_TOKEN_SECONDS": "How long to wait for its first word.",
        "LLM_TOTAL_SECONDS": "How long an answer may take in all.",
        "LLM_MAX_TOKENS": "How long an answer may be, in tokens.",
        "LLM_CONTEXT_TOKENS": "Prompt and answer together, as the model's server was started with. The weakest sources "
        "are left out where they do not fit.",
        "LLM_CONCURRENCY": "How many calls run at once in one process.",
        "LLM_QUEUE": "How many calls may wait for their turn.",
        "LLM_QUEUE_SECONDS": "How long they may wait. Then pages are quoted.",
        "LLM_ANSWERS_PER_MINUTE": "How many answers the model may write in a minute, all processes together. Beyond "
        "it pages are quoted. 0: no limit.",
        "JUDGE_BASE_URL": "An endpoint that judges answers in `evaluate --answers` and, every night, those of "
        "`QUALITY_SAMPLE`; better another model than the one that answers. For the sample it is sent students' "
        "questions with the answers and passages; judging sends them to no other place.",
        "JUDGE_API_KEY": "Its key.",
        "JUDGE_MODEL": "Its model.",
    },
    "Finding": {
        "EMBEDDING_MODEL": "Built in are `all-MiniLM-L6-v2+multilingual-e5-small` (both side by side), "
        "`all-MiniLM-L6-v2` (English only, about three times as fast) and `multilingual-e5-small`. Else the name or "
        "folder of a sentence-transformers model, a folder that `manage.py export_embedding_model` wrote, or a name at "
        "`EMBEDDING_BASE_URL`. After a change a new index is built beside the old one.",
        "EMBEDDING_BASE_URL": "An OpenAI-compatible server with `/embeddings`.",
        "EMBEDDING_API_KEY": "Its key.",
        "EMBEDDING_QUESTION_PREFIX": "What a model that is neither built in nor exported wants before a question, "
        "such as `query:`.",
        "EMBEDDING_PASSAGE_PREFIX": "The same before a passage, such as `passage:`.",
        "EMBEDDING_THREADS": "Threads for one text. More help only where cores are idle.",
        "PASSAGE_TOKENS": "How long a passage may be, in word pieces. After a change a new index is built beside the "
        "old one.",
        "RERANKER_MODEL": "A cross-encoder for profiles that rerank: a folder with `model.onnx` and `tokenizer.json`, "
        "or a name for sentence-transformers.",
        "VERIFIER_MODEL": "An entailment model that must agree before a sentence is shown as written: a folder with "
        "`model.onnx`, `tokenizer.json` and `config.json`, a name for sentence-transformers, or a name at "
        "`VERIFIER_BASE_URL`. Empty: the check of sentences decides alone.",
        "VERIFIER_BASE_URL": "A server with vLLM's `/score`, such as `http://gpu:8002`.",
        "VERIFIER_API_KEY": "Its key.",
        "PDF_MAX_PAGES": "Pages that an imported PDF may have.",
        "PDF_MAX_MEGABYTES": "Its size.",
        "CRAWL_BROWSER": "A Chromium, such as `/usr/bin/chromium`, that renders pages of websites which are empty "
        "without JavaScript. Needs the extra `render`. Empty: such pages are left out.",
    },
    "Limits": {
        "QUESTIONS_PER_MINUTE": "What one visitor may ask.",
        "QUESTIONS_PER_MINUTE_AND_ADDRESS": "What one network address may ask. A campus network may be one address.",
        "QUESTIONS_PER_MINUTE_AND_SITE": "What one site may ask.",
        "SESSIONS_PER_MINUTE_AND_ADDRESS": "How many visitors an address may bring.",
        "STAFF_API_PER_MINUTE": "Requests of one member of staff's programs.",
        "STAFF_API_PER_MINUTE_AND_ADDRESS": "Requests to the staff API from an address that does not say who it is.",
        "WEBHOOKS_TO_PRIVATE_ADDRESSES": "Whether webhooks may be sent to machines of private networks, such as "
        "`10.0.0.0/8`. Addresses of clouds' metadata services are refused all the same.",
        "DATABASE_POOL": "Connections that one web process may hold; it waits 10 seconds for one. 0 outside the web "
        "process, which takes 10.",
    },
    "Keeping and showing": {
        "STOP_SECONDS": "How long a web process that is told to stop goes on writing answers, in seconds.",
        "RETENTION_DAYS": "After how many days without a message a conversation is deleted. An assistant may keep them "
        "for fewer days, not for more.",
        "ANSWER_RECORD_DAYS": "For how many days it is kept what an answer was made from, for staff who ask why. "
        "It goes with its conversation at the latest.",
        "REPORT_DAYS": "How long files of long reports are kept.",
        "SMALLEST_GROUP": "Figures of fewer visitors than this are shown only to who has the permission “Can see "
        "figures of very few people, which are hidden from others”.",
        "QUALITY_SAMPLE": "Answers of each assistant that are drawn every night for two members of staff to judge. "
        "`0`: none.",
    },
    "Logs and figures for machines": {
        "METRICS_TOKEN": "Who sends it as `Authorization: Bearer` may read `/metrics`.",
        "METRICS_ADDRESSES": "Networks, such as `10.0.0.0/8`, whose machines may read `/metrics` without the token.",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "Where traces of questions are sent, such as `http://collector:4318`, by OTLP "
        "over HTTP; needs the extra `tracing`. The other `OTEL_…` variables of OpenTelemetry count too.",
        "OTEL_SERVICE_NAME": "The name of this service in traces.",
        "LOG_LEVEL": "`DEBUG`, `INFO`, `WARNING` or `ERROR`.",
        "LOG_FORMAT": "`line` for people, `json` for programs: one object a line.",
    },
}
