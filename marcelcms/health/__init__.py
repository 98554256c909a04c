"""Health checks and heartbeats, for supervisors, load balancers and operators."""
