# The green agent as a service. Build: docker build -t greenroom . ; run: docker run -p 9009:9009
# greenroom --card-url http://HOST:9009/ . Arguments go to `python -m adk_agent`.
FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /opt/greenroom \
    && /opt/greenroom/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY adk_agent adk_agent
COPY evals evals
COPY tau_bridge tau_bridge
COPY purple_agent purple_agent
COPY data data
RUN /opt/greenroom/bin/pip install --no-deps .

FROM python:3.13-slim
# The platform's health check calls curl inside the container.
RUN apt-get update \
    && apt-get install -y --no-install-recommends curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --home-dir /srv/greenroom --uid 10001 greenroom
COPY --from=build /opt/greenroom /opt/greenroom
ENV PATH=/opt/greenroom/bin:$PATH PYTHONUNBUFFERED=1 GREENROOM_RESULTS_DIR=/srv/greenroom/results
USER greenroom
WORKDIR /srv/greenroom
EXPOSE 9009
HEALTHCHECK --start-period=30s CMD curl -fsS http://127.0.0.1:9009/.well-known/agent-card.json
ENTRYPOINT ["python", "-m", "adk_agent", "--host", "0.0.0.0", "--port", "9009"]
