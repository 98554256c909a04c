# Small stand-ins for all images that compose.yml and the role vllm name. What they start only waits, or serves a file.
FROM scratch AS base
COPY docker/bin /bin

FROM base AS pgbouncer
USER 10001:10001
ENTRYPOINT ["sleep", "86400"]

FROM base AS others

FROM base AS app
COPY docker/version /version
USER 10001:10001
ENTRYPOINT ["entrypoint"]
HEALTHCHECK --interval=5s CMD ["true"]
