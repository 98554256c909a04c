"""PostgreSQL and Valkey from wheels, and the supervisor behind `make run`; knows nothing of Django."""
