"""Looks up what is installed in production in the database of known vulnerabilities: `python -m tests.audit`.

Fails where one is known. Where the database cannot be reached, or does not know a package, it says so and goes on: a
machine without the internet can be worked on, and the next one that has it will tell.
"""

import json
import subprocess
import sys

from tests.runtime.processes import ROOT

OPTIONS = ("--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json", "--desc=off")
#: How pip-audit says that it reaches nobody; whatever else goes wrong fails.
UNREACHABLE = ("requests.exceptions.", "Could not connect")


def main() -> None:
    command = [sys.executable, "-m", "pip_audit", *OPTIONS, "-r", ROOT / "requirements.lock"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if not ran.stdout.strip():
        reason = (ran.stderr.strip().splitlines() or ["no word"])[-1]
        sys.stderr.write(f"Known vulnerabilities could not be looked up: {reason[:200]}\n")
        sys.exit(0 if any(each in reason for each in UNREACHABLE) else 1)
    packages = json.loads(ran.stdout)["dependencies"]
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    found = [(each, known) for each in packages for known in each.get("vulns", ())]
    for package, known in found:
        mended = ", ".join(known["fix_versions"]) or "no version"
        print(f"{package['name']} {package['version']}: {known['id']}, mended in {mended}")
    looked_up = len(packages) - len(unknown)
    print(f"{looked_up} packages looked up, {len(found)} known vulnerabilities; {len(unknown)} packages unknown there")
    if found:
        sys.exit(1)


if __name__ == "__main__":
    main()
