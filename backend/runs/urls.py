from django.urls import path

from runs import api as runs_api
from runs import imports_api
from runs.views import editing, runs, upload

api = [
    path("runs/", runs_api.RunList.as_view(), name="runs"),
    path("runs/<uuid:run_id>/", runs_api.RunView.as_view(), name="run"),
    path("runs/<uuid:run_id>/document/", runs_api.RunDocumentView.as_view(), name="run-document"),
    path("runs/<uuid:run_id>/text/", runs_api.RunTextView.as_view(), name="run-text"),
    path("imports/", imports_api.ImportList.as_view(), name="imports"),
    path("schema/run", runs_api.RunSchemaView.as_view(), name="run-schema"),
]

pages = [
    path("runs/", runs.RunList.as_view(), name="run-pages"),
    path("runs/<uuid:run_id>/", runs.RunPage.as_view(), name="run-page"),
    path("runs/hidden/", editing.HiddenRunList.as_view(), name="hidden-runs"),
    path("runs/<uuid:run_id>/hide/", editing.HideRun.as_view(), name="hide-run"),
    path("runs/<uuid:run_id>/show/", editing.ShowRun.as_view(), name="show-run"),
    path("runs/<uuid:run_id>/remove/", editing.RemoveRun.as_view(), name="remove-run"),
    path("upload/", upload.UploadPage.as_view(), name="upload"),
    path("upload/save/", upload.SaveUpload.as_view(), name="save-upload"),
]
