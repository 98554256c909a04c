"""A server of the Model Context Protocol (MCP), over streamable HTTP: assistants as tools of other programs' models."""
