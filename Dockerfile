# CPU by default. For a GPU: build with --build-arg TORCH=torch and a CUDA runtime on the host.
FROM python:3.11-slim AS build
ARG TORCH="torch"
# Where wheels of torch are found; a CPU-only index makes the image several gigabytes smaller.
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/sensmap
WORKDIR /src
COPY constraints.txt ./
RUN /opt/sensmap/bin/pip install -c constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$TORCH"
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY renderers renderers
RUN /opt/sensmap/bin/pip install -c constraints.txt .

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 sensmap
COPY --from=build /opt/sensmap /opt/sensmap
ENV PATH=/opt/sensmap/bin:$PATH SENSMAP_HOST=0.0.0.0 SENSMAP_PORT=8000
USER sensmap
WORKDIR /home/sensmap
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD \
    ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["sensmap", "serve"]
