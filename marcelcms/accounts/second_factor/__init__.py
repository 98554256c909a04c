"""Second factor of names and passwords: codes of an app (TOTP, RFC 6238), and recovery codes."""
