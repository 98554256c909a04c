"""Is this process alive, and can it answer? Asked by supervisors, load balancers and people who are paged."""
