from django.urls import path

from hosts import api as hosts_api
from hosts import trends
from hosts.views import editing, hosts, notes
from hosts.views.side_by_side import HostDiffChoice, RunDiffChoice, SideBySide

api = [
    path("hosts/", hosts_api.HostList.as_view(), name="hosts"),
    path("hosts/<str:host_id>/", hosts_api.HostView.as_view(), name="host"),
    path("hosts/<str:host_id>/merge/", hosts_api.HostMerge.as_view(), name="merge-hosts"),
    path("trends/", trends.TrendView.as_view(), name="trends"),
    path("notes/", hosts_api.NoteList.as_view(), name="notes"),
    path("notes/<int:note_id>/", hosts_api.NoteView.as_view(), name="note"),
]

pages = [
    path("hosts/", hosts.HostList.as_view(), name="host-pages"),
    path("hosts/<int:pk>/", hosts.HostPage.as_view(), name="host-page"),
    path("runs/diff/", SideBySide.as_view(), name="run-pages-diff"),
    path("hosts/diff/", SideBySide.as_view(kind="host"), name="host-pages-diff"),
    path("runs/<uuid:run_id>/diff/", RunDiffChoice.as_view(), name="run-page-diff-choice"),
    path("runs/<uuid:run_id>/diff/<uuid:other_id>/", SideBySide.as_view(), name="run-page-diff"),
    path("hosts/<int:pk>/diff/", HostDiffChoice.as_view(), name="host-page-diff-choice"),
    path(
        "hosts/<int:pk>/diff/<int:other_id>/",
        SideBySide.as_view(kind="host"),
        name="host-page-diff",
    ),
    path("hosts/<int:pk>/rename/", editing.RenameHost.as_view(), name="rename-host"),
    path("hosts/<int:pk>/merge/", editing.MergeChoice.as_view(), name="merge-host-choice"),
    path("hosts/<int:pk>/merge/<int:other_id>/", editing.MergeHosts.as_view(), name="merge-host"),
    path("hosts/aliases/<int:pk>/remove/", editing.RemoveAlias.as_view(), name="remove-alias"),
    path("hosts/<str:key>/", hosts.HostByKey.as_view(), name="host-by-key"),
    path("hosts/<int:pk>/notes/", notes.AddNote.as_view(), name="add-host-note"),
    path("notes/<int:pk>/delete/", notes.DeleteNote.as_view(), name="delete-note"),
]
