import json
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marcelcms.doctor.alerts import ALERTS
from marcelcms.doctor.findings import Finding, Level
from marcelcms.doctor.report import examine


class Command(BaseCommand):
    help = (
        "Looks at this deployment from the inside (settings, servers, models, index, workers, backups) and says what "
        "to do. Ends with 1 where something fails; warnings alone end with 0."
    )
    # What they would stop is what this is to explain.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument(
            "--alert", metavar="NAME", choices=ALERTS, help="look only for the cause of this alert of Prometheus"
        )

    def handle(self, *, json: bool, alert: str | None, **options: Any) -> None:
        findings = []
        if alert and not json:
            self.stdout.write(f"{alert}: {ALERTS[alert].means}")
        for finding in examine(ALERTS[alert].looks) if alert else examine():
            findings.append(finding)
            if not json:
                self.show(finding)
        levels = Counter(finding.level for finding in findings)
        if json:
            self.stdout.write(_as_json(findings))
        else:
            self.stdout.write(", ".join(f"{levels[level]} {level}" for level in Level))
            if alert and ALERTS[alert].todo:
                self.stdout.write(ALERTS[alert].todo)
        if levels[Level.FAIL]:
            raise CommandError(f"{levels[Level.FAIL]} of {len(findings)} looks found a fault.")

    def show(self, finding: Finding) -> None:
        style = {Level.OK: self.style.SUCCESS, Level.WARN: self.style.WARNING, Level.FAIL: self.style.ERROR}
        self.stdout.write(f"{style[finding.level](f'{finding.level:<5}')} {finding.what:<15} {finding.said}")
        if finding.todo:
            self.stdout.write(f"{'':<22}→ {finding.todo}")


def _as_json(findings: list[Finding]) -> str:
    healthy = all(finding.level != Level.FAIL for finding in findings)
    return json.dumps({"healthy": healthy, "findings": [asdict(finding) for finding in findings]}, indent=1)
