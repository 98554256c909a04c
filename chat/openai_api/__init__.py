"""The assistants as models of an API in OpenAI's form, for programs such as Open WebUI, HAWKI and LibreChat."""
