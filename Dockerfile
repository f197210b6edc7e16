# syntax=docker/dockerfile:1
# One image for all roles: docs/containers.md. Both base images are arguments, for registries of your own.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

# Installs, compiles, and leaves what a running service needs. Node itself is one of the packages (ADR 35).
FROM ${BUILD_IMAGE} AS build
# The program's Node needs it.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/* /var/cache/apt
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node compose/image/build.mjs /app

# hadolint ignore=DL3006
FROM ${BASE_IMAGE}
# The program's Node needs it.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/* /var/cache/apt
COPY --from=build /app /app
# No user of the base image has this number; the data directory is its own.
RUN mkdir /data && chown 10001:10001 /data
WORKDIR /app
ENV PATH=/app/bin:/usr/local/bin:/usr/bin:/bin \
    LOGWEIR_HOST=0.0.0.0 \
    LOGWEIR_ADMIN_HOST=0.0.0.0 \
    LOGWEIR_ADMIN_LISTENER=instance \
    LOGWEIR_DATA_DIR=/data \
    LOGWEIR_INSTALL=0 \
    NODE_COMPILE_CACHE=/tmp/compiled
USER 10001:10001
VOLUME /data
EXPOSE 8080 8081 8082
# /ready of the instance is for load balancers: a restart does not help where an engine is away
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 CMD ["node", "compose/image/health.mjs"]
STOPSIGNAL SIGTERM
# such as `--role ingest`; without it all roles
ENTRYPOINT ["node", "main/start.mjs"]
