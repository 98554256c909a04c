"""The wire protocol: what clients send and what the server says; its JSON schema and the widget's types follow."""
