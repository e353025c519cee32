from django.urls import path

from core.views import docs
from core.views.method import method_page

pages = [
    path("docs/", docs.docs_page, name="docs"),
    path("docs/pictures/<str:name>", docs.docs_picture, name="docs-picture"),
    path("docs/<path:name>/", docs.docs_page, name="docs-page"),
    path("method/", method_page, name="method"),
]
