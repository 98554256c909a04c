# Every target works in a fresh clone: it needs Python 3.11 to 3.14 and make, and installs the rest below this folder.
SHELL := /bin/sh
# Python keeps what it compiled: each of the many processes that tests start would otherwise compile everything again.
unexport PYTHONDONTWRITEBYTECODE
ARGS ?=
IS_FIT := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
PYTHON = $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(IS_FIT)' 2>/dev/null && echo $$python && break; done)
INSTALL = $(or $(PYTHON),$(error MarcelCMS needs Python 3.11 to 3.14, and there is none on the PATH)) \
	marcelcms/embedded/install.py
CHECKS := check-style check-format check-types check-templates check-template-format check-imports check-migrations check-vulnerabilities
# The type checker reads the settings, which name servers that it never calls.
SETTINGS := SECRET_KEY=none DATABASE_URL=postgresql://nobody@127.0.0.1:1/none REDIS_URL=redis://127.0.0.1:1/0

.PHONY: run help test coverage check bench docs screenshots load soak clean install-dev $(CHECKS)

run: ## installs, starts everything, loads the demo, prints the address and the admin login
	@$(INSTALL) run
	@.venv/bin/python -m marcelcms.embedded

help: ## prints this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:[^#]*## / { name[++n] = $$1; text[n] = $$2; if (length($$1) > wide) wide = length($$1) } \
		END { for (i = 1; i <= n; i++) printf "make %-" wide "s  %s\n", name[i], text[i] }' $(firstword $(MAKEFILE_LIST))

test: install-dev ## runs every test but the marked extras; ARGS="-m e2e" runs those in a browser
	.venv/bin/python -m pytest $(ARGS)

coverage: install-dev ## runs what `make test` runs, prints how much of the code it reaches; by line in var/coverage/html
	@rm -rf var/coverage
	.venv/bin/coverage run -m pytest $(ARGS); status=$$?; .venv/bin/coverage combine --quiet && \
		.venv/bin/coverage html --quiet && .venv/bin/coverage report --skip-covered && exit $$status

check: install-dev ## checks style, types, templates, import rules, migrations, known vulnerabilities; reports all that fail
	@$(MAKE) --no-print-directory --keep-going $(CHECKS)

bench: install-dev ## measures, prints a table, writes JSON
	@.venv/bin/python -m benchmarks $(ARGS)

docs: install-dev ## builds the documentation into var/docs
	@NO_MKDOCS_2_WARNING=1 $(SETTINGS) .venv/bin/python -m mkdocs build

screenshots: install-dev ## makes the pictures of the documentation anew, in Chromium
	SCREENSHOTS=docs/screenshots .venv/bin/python -m pytest -q -n 0 -m e2e tests/e2e/test_screenshots.py

load: install-dev ## holds a thousand sockets and a hundred answers at once, beside a stand-in for the language model
	.venv/bin/python -m tests.load $(ARGS)

soak: install-dev ## runs ten minutes of mixed traffic on everything: flat memory, no leak, no error; ARGS="--hours 8"
	.venv/bin/python -m tests.soak $(ARGS)

clean: ## removes what was installed and built; the data in var/ stays
	rm -rf .venv var/tools var/log var/static var/coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

install-dev: ## installs what development needs into .venv; the other targets do that by themselves
	@$(INSTALL) dev

check-style: ## checks style, with ruff
	.venv/bin/ruff check .

check-format: ## checks format, with ruff
	.venv/bin/ruff format --check .

check-types: ## checks types, with mypy
	$(SETTINGS) .venv/bin/mypy .

check-templates: ## checks templates, with djlint
	.venv/bin/djlint . --lint --quiet

check-template-format: ## checks templates' format, with djlint
	.venv/bin/djlint . --check --quiet

check-imports: ## checks import rules between and inside the apps
	.venv/bin/lint-imports

check-migrations: ## checks that no model lacks a migration
	.venv/bin/python manage.py makemigrations --check --dry-run

check-vulnerabilities: ## checks what is locked for known vulnerabilities
	.venv/bin/python -m tests.audit
