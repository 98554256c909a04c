"""Second factor of names and passwords: codes of an app (TOTP, RFC 6238), passkeys (WebAuthn), and recovery codes."""
