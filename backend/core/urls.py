from django.urls import path

from core.views import docs
from core.views.method import MethodPage

pages = [
    path("docs/", docs.DocsPage.as_view(), name="docs"),
    path("docs/pictures/<str:name>", docs.docs_picture, name="docs-picture"),
    path("docs/<path:name>/", docs.DocsPage.as_view(), name="docs-page"),
    path("method/", MethodPage.as_view(), name="method"),
]
