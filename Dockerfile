# Two images from one file:
#   docker build --platform linux/amd64 --target green -t greenroom .
#   docker build --platform linux/amd64 --target purple -t greenroom-purple .
# Arguments go to the program: --host, --port and --card-url, as AgentBeats passes them.
# tests/deployment performs the steps of the build stage; docs/deployment.md says what it cannot.
FROM python:3.13-slim AS build
# Whoever runs the image cannot write bytecode beside the packages, so it is made here.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never
WORKDIR /src
RUN pip install --no-cache-dir uv==0.13.8 \
    && uv venv /opt/greenroom
COPY requirements-runtime.lock ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv pip install --python /opt/greenroom/bin/python --require-hashes -r requirements-runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY data data
COPY evals evals
COPY tau_bridge tau_bridge
COPY purple_agent purple_agent
COPY adk_agent adk_agent
COPY greenroom greenroom
RUN --mount=type=cache,target=/root/.cache/uv \
    uv pip install --python /opt/greenroom/bin/python --no-deps .

FROM python:3.13-slim AS runtime
# The platform's health check calls curl inside the container. Debian keeps one version of it for
# each release and replaces that when it is mended, so a pinned one would soon not be found.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --home-dir /srv/greenroom greenroom \
    && install -d -o greenroom -g greenroom /srv/greenroom/results
COPY --from=build /opt/greenroom /opt/greenroom
ENV PATH=/opt/greenroom/bin:$PATH \
    PYTHONUNBUFFERED=1
WORKDIR /srv/greenroom

FROM runtime AS purple
# Which bundled agent this is; see `greenroom list agents`.
ENV AGENT=reference PORT=9010
EXPOSE 9010
HEALTHCHECK --start-period=30s --interval=10s --timeout=5s \
    CMD ["sh", "-c", "curl -fsS http://127.0.0.1:$PORT/.well-known/agent-card.json"]
USER 10001
ENTRYPOINT ["sh", "-c", "exec greenroom agent \"$AGENT\" --host 0.0.0.0 --port \"$PORT\" \"$@\"", "purple"]

FROM runtime AS green
# On AgentBeats the participants are behind the platform's proxy on this address.
ENV PORT=9009 \
    GREENROOM_ALLOWED_HOSTS=127.0.0.1:8080 \
    GREENROOM_RESULTS_DIR=/srv/greenroom/results
EXPOSE 9009
HEALTHCHECK --start-period=30s --interval=10s --timeout=5s \
    CMD ["sh", "-c", "curl -fsS http://127.0.0.1:$PORT/.well-known/agent-card.json"]
USER 10001
ENTRYPOINT ["python", "-m", "adk_agent", "--host", "0.0.0.0"]
