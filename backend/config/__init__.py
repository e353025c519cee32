from config.celery import app as celery_app

# Loaded with the settings, so that every process's tasks go to this application's broker.
__all__ = ["celery_app"]
