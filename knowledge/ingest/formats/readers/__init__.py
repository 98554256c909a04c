"""One module a format, with its `FORMAT`; libraries are imported where they are used, so that only the sandbox does."""
