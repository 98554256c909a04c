def page_strings() -> dict[str, str]:
    return {}
