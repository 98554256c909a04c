"""PostgreSQL and Valkey from wheels, and the supervisor behind `make run`; independent of Django."""
