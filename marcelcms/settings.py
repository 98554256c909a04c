"""All settings; whatever differs between machines comes from the environment, typed in `env`."""

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from marcelcms import env
from marcelcms.observability import logs

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(env.text("STATE_DIR", str(BASE_DIR / "var")))
# The processes of a machine share the lexical index that lies here; if empty, each keeps its own in memory.
_lexical = env.text("LEXICAL_INDEX_FOLDER", str(STATE_DIR / "lexical"))
LEXICAL_INDEX_FOLDER = Path(_lexical) if _lexical else None

DEBUG = env.boolean("DEBUG", default=False)
SECRET_KEY = env.text("SECRET_KEY")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", default="localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

# --- parts that can be replaced by real services ---
DATABASES = {"default": env.database("DATABASE_URL", is_pooled=env.boolean("PGBOUNCER", default=False))}
# A standby of that server in streaming replication, for searches and dashboards (`core.db.reading`).
DATABASE_REPLICA_LAG_SECONDS = env.integer("DATABASE_REPLICA_LAG_SECONDS", default=5, least=3)
REPLICA_PGBOUNCER = env.boolean("REPLICA_PGBOUNCER", default=False)
if env.text("DATABASE_REPLICA_URL", ""):
    DATABASES["replica"] = env.replica("DATABASE_REPLICA_URL", is_pooled=REPLICA_PGBOUNCER)
    DATABASE_ROUTERS = ["core.db.reading.ReadRouter"]
# For web processes; `asgi` switches it on.
DATABASE_POOL = env.integer("DATABASE_POOL", default=0)
if DATABASE_POOL:
    env.use_pools(DATABASES, DATABASE_POOL)
# What a session begins with: enough candidates for a recall of 0.93 at 50, also behind a filter; see
# benchmarks/RESULTS.md. A pooler has to set it by itself (docker/pgbouncer.ini); the doctor looks.
HNSW_EF_SEARCH = env.integer("HNSW_EF_SEARCH", default=100, least=1)
DATABASE_SESSION = {"hnsw.iterative_scan": "strict_order", "hnsw.ef_search": str(HNSW_EF_SEARCH)}
for _database in DATABASES.values():
    _database.setdefault("CONN_MAX_AGE", 60)
    # Only cursors that ask for it prepare their statements (`core.db.prepared`); Django's never do.
    _database["OPTIONS"].setdefault("prepare_threshold", 0)
    _database["OPTIONS"].setdefault(
        "options", " ".join(f"-c {name}={value}" for name, value in DATABASE_SESSION.items())
    )
    _database["OPTIONS"].setdefault("application_name", env.connection_name())
REDIS_URL = env.text("REDIS_URL")
# Where browsers reach this product: citations of imported PDFs open them below it.
PUBLIC_URL = env.web_address("PUBLIC_URL", "http://localhost:8000")

LLM_BASE_URL = env.text("LLM_BASE_URL", "")
LLM_API_KEY = env.text("LLM_API_KEY", "none")
LLM_MODEL = env.text("LLM_MODEL", "")
LLM_FIRST_TOKEN_SECONDS = env.integer("LLM_FIRST_TOKEN_SECONDS", default=30, least=1)
LLM_TOTAL_SECONDS = env.integer("LLM_TOTAL_SECONDS", default=120, least=1)
LLM_MAX_TOKENS = env.integer("LLM_MAX_TOKENS", default=700, least=16)
# Prompt and answer together, as the model's server was started with.
LLM_CONTEXT_TOKENS = env.integer("LLM_CONTEXT_TOKENS", default=8192, least=LLM_MAX_TOKENS + 512)
# Calls at once from one process; how many may wait for one of them, and how long.
LLM_CONCURRENCY = env.integer("LLM_CONCURRENCY", default=8, least=1)
LLM_QUEUE = env.integer("LLM_QUEUE", default=100)
LLM_QUEUE_SECONDS = env.integer("LLM_QUEUE_SECONDS", default=30, least=1)
# Judges the answers of an evaluation; better another model than the one that answers.
JUDGE_BASE_URL = env.text("JUDGE_BASE_URL", "")
JUDGE_API_KEY = env.text("JUDGE_API_KEY", "none")
JUDGE_MODEL = env.text("JUDGE_MODEL", "")

# A built-in model (all-MiniLM-L6-v2, multilingual-e5-small, or both as one), the name or folder of a
# sentence-transformers model, or what the server at EMBEDDING_BASE_URL has.
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", "all-MiniLM-L6-v2+multilingual-e5-small")
EMBEDDING_BASE_URL = env.text("EMBEDDING_BASE_URL", "")
EMBEDDING_API_KEY = env.text("EMBEDDING_API_KEY", "none")
# What a model that is not built in wants to read before a question and before a passage.
EMBEDDING_QUESTION_PREFIX = env.text("EMBEDDING_QUESTION_PREFIX", "")
EMBEDDING_PASSAGE_PREFIX = env.text("EMBEDDING_PASSAGE_PREFIX", "")
# Word pieces of a passage's own text; with its title and headings it fits all-MiniLM-L6-v2's window of 256.
PASSAGE_TOKENS = env.integer("PASSAGE_TOKENS", default=200, least=32)
# A cross-encoder for profiles that rerank: a folder with model.onnx and tokenizer.json, or a name that
# sentence-transformers knows.
RERANKER_MODEL = env.text("RERANKER_MODEL", "")
# An entailment model that must agree before a sentence is shown as written: a folder or a name as above, or what the
# server at VERIFIER_BASE_URL has.
VERIFIER_MODEL = env.text("VERIFIER_MODEL", "")
VERIFIER_BASE_URL = env.text("VERIFIER_BASE_URL", "")
VERIFIER_API_KEY = env.text("VERIFIER_API_KEY", "none")
EMBEDDING_THREADS = env.integer("EMBEDDING_THREADS", default=1, least=1)

# --- e-mail to staff, and to students who left a question with an office ---
# Without a server no e-mail is sent.
MAIL_SERVER = env.mail_server("EMAIL_URL")
EMAIL_HOST, EMAIL_PORT = MAIL_SERVER.host, MAIL_SERVER.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL_SERVER.user, MAIL_SERVER.password
EMAIL_USE_SSL, EMAIL_USE_TLS = MAIL_SERVER.tls, MAIL_SERVER.starttls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.sender("DEFAULT_FROM_EMAIL", is_needed=bool(MAIL_SERVER.host))
# Written when nobody's browser is there to say which language its reader wants.
MAIL_LANGUAGE = env.choice("MAIL_LANGUAGE", "en", among=("en", "de"))
# Where students' replies to an office's e-mails arrive, and the mailbox in which they are read.
CASE_MAIL_ADDRESS = env.reply_address("CASE_MAIL_ADDRESS", has_mail_server=bool(MAIL_SERVER.host))
MAILBOX = env.mailbox("IMAP_URL")

# --- sign-on of staff with the university's directory, by OpenID Connect or SAML ---
# What the button says after “Log in with”.
SIGN_ON_LABEL = env.text("SIGN_ON_LABEL", "")
# Whether an account that was here before becomes that of who has its e-mail address in the directory, verified.
SIGN_ON_LINK_BY_EMAIL = env.boolean("SIGN_ON_LINK_BY_EMAIL", default=False)
# After that a session ends, and the next login reads the groups again.
SIGN_ON_SESSION_HOURS = env.integer("SIGN_ON_SESSION_HOURS", default=12, least=1)
OIDC_ISSUER = env.issuer("OIDC_ISSUER")
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_SECRET", "")
OIDC_SCOPES = env.text("OIDC_SCOPES", "openid profile email")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured("OIDC_CLIENT_ID is not set: OIDC_ISSUER needs it.")
if "openid" not in OIDC_SCOPES.split():
    raise ImproperlyConfigured(f"OIDC_SCOPES is {OIDC_SCOPES!r}: without openid among them nobody is named.")
# Documents in XML and PEM; SAML_KEY_FILE and the like name files.
SAML_IDP_ENTITY_ID = env.text("SAML_IDP_ENTITY_ID", "")
SAML_IDP_METADATA = env.text("SAML_IDP_METADATA", "")
SAML_KEY = env.text("SAML_KEY", "")
SAML_CERTIFICATE = env.text("SAML_CERTIFICATE", "")
# The subject-id of the OASIS standard of 2019; “NameID” takes a persistent one.
SAML_SUBJECT_ATTRIBUTE = env.text("SAML_SUBJECT_ATTRIBUTE", "urn:oasis:names:tc:SAML:attribute:subject-id")
# eduPersonEntitlement.
SAML_GROUPS_ATTRIBUTE = env.text("SAML_GROUPS_ATTRIBUTE", "urn:oid:1.3.6.1.4.1.5923.1.1.1.7")
SAML_IDP: dict[str, Any] = {}
if SAML_IDP_ENTITY_ID:
    if find_spec("onelogin") is None:
        raise ImproperlyConfigured("SAML_IDP_ENTITY_ID is set: install the product with its extra, marcelcms[saml].")
    from marcelcms.accounts.sign_on.saml.identity_provider import check_key_pair, read_identity_provider

    SAML_IDP = read_identity_provider(SAML_IDP_METADATA, SAML_IDP_ENTITY_ID)
    check_key_pair(SAML_KEY, SAML_CERTIFICATE)
if OIDC_ISSUER and SAML_IDP:
    raise ImproperlyConfigured("OIDC_ISSUER and SAML_IDP_ENTITY_ID are both set: a university has one directory.")
# Whether names and passwords of this product log in too; BREAK_GLASS_USER's always do.
LOCAL_LOGIN = env.boolean("LOCAL_LOGIN", default=True)
BREAK_GLASS_USER = env.text("BREAK_GLASS_USER", "")
if not LOCAL_LOGIN and not OIDC_ISSUER and not SAML_IDP:
    raise ImproperlyConfigured(
        "LOCAL_LOGIN is off, and neither OIDC_ISSUER nor SAML_IDP_ENTITY_ID is set: nobody could log in."
    )

# --- limits at the door ---
QUESTION_MAX_CHARACTERS = 2_000
QUESTIONS_PER_MINUTE = env.integer("QUESTIONS_PER_MINUTE", default=12, least=1)
# A campus network may be one address.
QUESTIONS_PER_MINUTE_AND_ADDRESS = env.integer("QUESTIONS_PER_MINUTE_AND_ADDRESS", default=600, least=1)
QUESTIONS_PER_MINUTE_AND_SITE = env.integer("QUESTIONS_PER_MINUTE_AND_SITE", default=1_200, least=1)
SESSIONS_PER_MINUTE_AND_ADDRESS = env.integer("SESSIONS_PER_MINUTE_AND_ADDRESS", default=600, least=1)
# How many answers the model may write in a minute, of all processes together; beyond it pages are quoted. 0: no limit.
LLM_ANSWERS_PER_MINUTE = env.integer("LLM_ANSWERS_PER_MINUTE", default=0)
# Requests of one member of staff's programs to the staff API, and of an address that does not say who it is.
STAFF_API_PER_MINUTE = env.integer("STAFF_API_PER_MINUTE", default=600, least=1)
STAFF_API_PER_MINUTE_AND_ADDRESS = env.integer("STAFF_API_PER_MINUTE_AND_ADDRESS", default=60, least=1)
# Who may read /metrics: who sends this token, and who asks from these networks, such as 10.0.0.0/8.
METRICS_TOKEN = env.text("METRICS_TOKEN", "")
METRICS_ADDRESSES = env.networks("METRICS_ADDRESSES")
OTEL_EXPORTER_OTLP_ENDPOINT = env.text("OTEL_EXPORTER_OTLP_ENDPOINT", "")
OTEL_SERVICE_NAME = env.text("OTEL_SERVICE_NAME", "marcelcms")
# Whether events may be sent to machines of private networks, such as 10.0.0.0/8.
WEBHOOKS_TO_PRIVATE_ADDRESSES = env.boolean("WEBHOOKS_TO_PRIVATE_ADDRESSES", default=False)
# How many proxies stand before this server: so many entries at the end of X-Forwarded-For are theirs.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", default=0)
PDF_MAX_PAGES = env.integer("PDF_MAX_PAGES", default=2_000, least=1)
PDF_MAX_MEGABYTES = env.integer("PDF_MAX_MEGABYTES", default=100, least=1)
# The Chromium that draws pages which are empty without JavaScript, such as /usr/bin/chromium; empty: none.
CRAWL_BROWSER = env.text("CRAWL_BROWSER", "")
# How long a web process that is told to stop goes on writing answers whose sockets it has closed.
STOP_SECONDS = env.integer("STOP_SECONDS", default=5)
RETENTION_DAYS = env.integer("RETENTION_DAYS", default=90, least=1)
# What an answer was made from is kept so long, and no longer than its conversation.
ANSWER_RECORD_DAYS = env.integer("ANSWER_RECORD_DAYS", default=90, least=1)
# Files of long reports are kept so long.
REPORT_DAYS = env.integer("REPORT_DAYS", default=14, least=1)
# Figures of fewer people than this are shown only to who may see small groups.
SMALLEST_GROUP = env.integer("SMALLEST_GROUP", default=5, least=1)
# Answers of each assistant that are drawn every night for staff to judge; 0: none.
QUALITY_SAMPLE = env.integer("QUALITY_SAMPLE", default=5, least=0)
# Renewed with the old one as long as its visitor's conversations are kept.
SESSION_TOKEN_SECONDS = 3600

# --- Django ---
INSTALLED_APPS = [
    "marcelcms.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "csp",
    "django_celery_beat",
    "axes",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "knowledge",
    "faqs",
    "chat",
    "analytics",
    "marcelcms.apps.MarcelCMSConfig",
]
MIDDLEWARE = [
    "marcelcms.observability.asgi.measure_requests",
    # Before what replies without asking the others: a redirect to HTTPS, a static file.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "marcelcms.health.views.answer_probes",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "chat.api.cors.PublicAPIMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "marcelcms.accounts.open_sessions.middleware.OpenSessionsMiddleware",
    "marcelcms.accounts.login.ButtonsMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "marcelcms.urls"
ASGI_APPLICATION = "marcelcms.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
# Seconds for which the link of an invitation holds.
PASSWORD_RESET_TIMEOUT = 7 * 24 * 3600
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "marcelcms.accounts.backend.PermissionBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# So many wrong passwords for one name from one address, and that pair has to wait; others log in meanwhile.
AXES_FAILURE_LIMIT = env.integer("LOGIN_FAILURES", default=5, least=1)
AXES_COOLOFF_TIME = timedelta(minutes=env.integer("LOGIN_WAIT_MINUTES", default=15, least=1))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "marcelcms.accounts.login.locked_out"
AXES_CLIENT_IP_CALLABLE = "chat.api.auth.client_address"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SESSION_ENGINE = "marcelcms.accounts.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
HTTPS = env.boolean("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
# Probes come by inner addresses in plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
# It is one host of a university's domain and does not speak for the others (HSTS for subdomains, preloading).
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}

# No password goes over the API, so that the lock on wrong ones cannot be passed by; programs have tokens.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "marcelcms.accounts.api_tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["core.rest.permissions.IsStaff"],
    "DEFAULT_THROTTLE_CLASSES": ["marcelcms.rest.throttling.PerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.rest.parsers.JSONBody"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "marcelcms.rest.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "MarcelCMS staff API",
    "VERSION": "1",
    "DESCRIPTION": "What staff do in the admin, for their programs: same permissions, same teams’ rows.",
    "SCHEMA_PATH_PREFIX": "/api/staff/v1",
    "SERVE_PERMISSIONS": ["core.rest.permissions.IsStaff"],
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "marcelcms.rest.openapi.add_problems",
    ],
    "ENUM_NAME_OVERRIDES": {
        "DocumentStatus": "knowledge.models.Document.Status",
        "FAQStatus": "faqs.models.FAQ.Status",
        "MessageStatus": "chat.models.Message.Status",
        "GapState": "analytics.models.Gap.State",
        "ReviewState": "analytics.models.Review.State",
        "ReviewReason": "analytics.models.Review.Reason",
        "RunState": "analytics.models.EvaluationRun.State",
        "ExportState": "analytics.models.StoredReport.State",
        "FeedbackReason": "chat.models.Feedback.Reason",
    },
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["marcelcms.formats"]
TIME_ZONE = env.text("TIME_ZONE", "Europe/Berlin")
USE_TZ = True

STATIC_URL = "static/"
# Those of the apps are found by themselves; core, which has no tables, is none.
STATICFILES_DIRS = [BASE_DIR / "core" / "static"]
STATIC_ROOT = STATE_DIR / "static"
MEDIA_ROOT = STATE_DIR / "media"  # served by the apps' own views alone, which heed what is published
# Static files are found in the apps themselves where nobody has collected them, as in `make run`.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = not any(STATIC_ROOT.iterdir())

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"pool_class": "core.redis.SharedPool"},
    },
}
CELERY_BROKER_URL = env.text("BROKER_URL", REDIS_URL)
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = TIME_ZONE
# An edit must not wait long for a broker that is away: what could not be queued is found by the tasks below.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2}
# What may take minutes or hours has workers of its own, so that an edit never waits behind it.
LONG = (
    "knowledge.tasks.import_uploaded_file",
    "knowledge.tasks.import_pending_uploads",
    "knowledge.tasks.read_pictures",
    "knowledge.tasks.index_pending_documents",
    "knowledge.tasks.build_generation",
    "knowledge.tasks.make_propositions",
    "analytics.tasks.run_evaluation",
    "analytics.tasks.propose_questions",
    "analytics.tasks.find_gaps",
    "analytics.tasks.update_topics",
    "analytics.tasks.find_contradictions",
    "analytics.tasks.compare_changed_pages",
    "analytics.tasks.count_changed_days",
    "analytics.tasks.run_shadow_test",
    "analytics.tasks.run_model_trial",
    "analytics.tasks.embed_asked_questions",
    "analytics.tasks.judge_samples",
)
# A crawl waits for a site all the time, for hours: it takes little, and nobody should wait behind it.
CELERY_TASK_ROUTES = {task: {"queue": "long"} for task in LONG} | {
    "knowledge.tasks.run_crawl": {"queue": "crawl"},
    "knowledge.tasks.crawl_source": {"queue": "crawl"},
    "analytics.tasks.make_report": {"queue": "reports"},
}
# In the database, so that staff can change when a source is crawled.
CELERY_BEAT_SCHEDULER = "marcelcms.schedule:Scheduler"
#: After whatever failed, the index equals the database within seconds; what waits behind a long task is not piled up.
OFTEN = {"schedule": 10.0, "options": {"expires": 10.0}}
CELERY_BEAT_SCHEDULE = {
    "sign-of-life": {"task": "marcelcms.tasks.sign_of_life", "schedule": 30.0},
    "index-pending-documents": {"task": "knowledge.tasks.index_pending_documents", **OFTEN},
    "build-generation": {"task": "knowledge.tasks.build_generation", "schedule": 60.0},
    "make-propositions": {"task": "knowledge.tasks.make_propositions", "schedule": 60.0},
    "clear-sessions": {"task": "marcelcms.tasks.clear_sessions", "schedule": crontab(hour="3", minute="0")},
    "requeue-lost-jobs": {"task": "marcelcms.tasks.requeue_lost_jobs", "schedule": 15.0},
    "import-pending-uploads": {"task": "knowledge.tasks.import_pending_uploads", "schedule": 60.0},
    "read-pictures": {"task": "knowledge.tasks.read_pictures", "schedule": 60.0},
    "index-pending-faqs": {"task": "faqs.tasks.index_pending_faqs", **OFTEN},
    "collect-reviews": {"task": "analytics.tasks.collect_reviews", "schedule": 60.0},
    "sweep-reports": {"task": "analytics.tasks.sweep_reports", "schedule": 60.0},
    "embed-kind-examples": {"task": "chat.tasks.embed_kind_examples", "schedule": 60.0},
    "deliver-due-webhooks": {"task": "chat.tasks.deliver_due_webhooks", "schedule": 60.0},
    "embed-asked-questions": {"task": "analytics.tasks.embed_asked_questions", "schedule": 60.0},
    "ask-again": {"task": "analytics.tasks.ask_again", "schedule": 60.0},
    "count-changed-days": {"task": "analytics.tasks.count_changed_days", "schedule": 60.0},
    "find-gaps": {"task": "analytics.tasks.find_gaps", "schedule": crontab(hour="4", minute="0")},
    "update-topics": {"task": "analytics.tasks.update_topics", "schedule": crontab(hour="3", minute="50")},
    "compare-changed-pages": {"task": "analytics.tasks.compare_changed_pages", "schedule": 60.0},
    "find-contradictions": {
        "task": "analytics.tasks.find_contradictions",
        "schedule": crontab(hour="4", minute="30"),
    },
    "notice-held-back": {
        "task": "analytics.tasks.notice_held_back",
        "schedule": crontab(hour="5", minute="0"),
    },
    "draw-samples": {"task": "analytics.tasks.draw_samples", "schedule": crontab(hour="0", minute="20")},
    "judge-samples": {"task": "analytics.tasks.judge_samples", "schedule": crontab(hour="0", minute="40")},
    "notice-quality-drops": {
        "task": "analytics.tasks.notice_quality_drops",
        "schedule": crontab(hour="5", minute="10"),
    },
    "look-at-experiments": {"task": "analytics.tasks.look_at_experiments", "schedule": crontab(minute="15")},
    "apply-retention": {
        "task": "analytics.tasks.apply_retention",
        "schedule": crontab(hour="3", minute="30"),
    },
    "delete-webhook-deliveries": {
        "task": "chat.tasks.delete_webhook_deliveries",
        "schedule": crontab(hour="3", minute="45"),
    },
    "send-case-mails": {"task": "chat.tasks.send_case_mails", "schedule": 60.0},
    "read-case-mails": {"task": "chat.tasks.read_case_mails", "schedule": 60.0},
    "raise-late-cases": {"task": "analytics.tasks.raise_late_cases", "schedule": 60.0},
    "close-quiet-cases": {
        "task": "analytics.tasks.close_quiet_cases",
        "schedule": crontab(hour="3", minute="50"),
    },
    "mail-reports": {"task": "analytics.tasks.mail_reports", "schedule": crontab(hour="5-23", minute="*/10")},
    "mail-notices": {"task": "analytics.tasks.mail_notices", "schedule": 600.0},
    # Several times, because nobody gets two in a week: the later ones reach who could not be reached at seven.
    "mail-digests": {
        "task": "analytics.tasks.mail_digests",
        "schedule": crontab(hour="7-11", minute="0", day_of_week="1"),
    },
}

# json: an object a line, for collectors; line: for people.
LOGGING = logs.configuration(
    form=env.choice("LOG_FORMAT", "line", among=("line", "json")), level=env.text("LOG_LEVEL", "WARNING").upper()
)
