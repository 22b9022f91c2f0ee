# For the CPU. For an NVIDIA GPU build with --build-arg TORCH_INDEX=https://pypi.org/simple: that
# torch brings CUDA along, several gigabytes; the host needs the driver and the container toolkit.
FROM python:3.11-slim AS build
ARG TORCH_INDEX="https://download.pytorch.org/whl/cpu"
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/sensmap
WORKDIR /src
COPY constraints.txt ./
# torch alone comes from that index; what torch needs comes from PyPI, in the versions tested.
RUN /opt/sensmap/bin/pip install -c constraints.txt --no-deps --index-url "$TORCH_INDEX" torch \
    && /opt/sensmap/bin/pip install -c constraints.txt torch
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY renderers renderers
RUN /opt/sensmap/bin/pip install -c constraints.txt .

FROM python:3.11-slim
# g++ compiles maps in the background; without it they are replayed, two to four times slower.
RUN apt-get update && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --no-create-home --uid 10001 sensmap \
    && install -d -o 10001 -m 0700 /var/cache/sensmap
COPY --from=build /opt/sensmap /opt/sensmap
ENV PATH=/opt/sensmap/bin:$PATH SENSMAP_HOST=0.0.0.0 SENSMAP_PORT=8000 \
    SENSMAP_COMPILE_FOLDER=/var/cache/sensmap
# By number: a cluster that refuses root cannot tell from a name.
USER 10001
WORKDIR /srv
EXPOSE 8000
# Not through urllib, which would ask a proxy named in the environment.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD \
    ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['SENSMAP_PORT']), timeout=3); c.request('GET', '/readyz'); raise SystemExit(c.getresponse().status != 200)"]
CMD ["sensmap", "serve"]
