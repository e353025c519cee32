from django.urls import path

from hosts import api as hosts_api
from hosts import trends
from hosts.views import editing, hosts, notes, side_by_side

api = [
    path("hosts/", hosts_api.HostList.as_view(), name="hosts"),
    path("hosts/<str:host_id>/", hosts_api.HostView.as_view(), name="host"),
    path("hosts/<str:host_id>/merge/", hosts_api.HostMerge.as_view(), name="merge-hosts"),
    path("trends/", trends.TrendView.as_view(), name="trends"),
    path("notes/", hosts_api.NoteList.as_view(), name="notes"),
    path("notes/<int:note_id>/", hosts_api.NoteView.as_view(), name="note"),
]

pages = [
    path("hosts/", hosts.host_list, name="host-pages"),
    path("hosts/<int:host_id>/", hosts.host_page, name="host-page"),
    path("runs/diff/", side_by_side.runs_side_by_side, name="run-pages-diff"),
    path("hosts/diff/", side_by_side.hosts_side_by_side, name="host-pages-diff"),
    path("runs/<uuid:run_id>/diff/", side_by_side.run_diff_choice, name="run-page-diff-choice"),
    path("runs/<uuid:run_id>/diff/<uuid:other_id>/", side_by_side.run_diff, name="run-page-diff"),
    path("hosts/<int:host_id>/diff/", side_by_side.host_diff_choice, name="host-page-diff-choice"),
    path("hosts/<int:host_id>/diff/<int:other_id>/", side_by_side.host_diff, name="host-page-diff"),
    path("hosts/<int:host_id>/rename/", editing.rename_host, name="rename-host"),
    path("hosts/<int:host_id>/merge/", editing.merge_choice, name="merge-host-choice"),
    path("hosts/<int:host_id>/merge/<int:other_id>/", editing.merge_hosts, name="merge-host"),
    path("hosts/aliases/<int:alias_id>/remove/", editing.remove_alias, name="remove-alias"),
    path("hosts/<str:key>/", hosts.host_by_key, name="host-by-key"),
    path("hosts/<int:host_id>/notes/", notes.add_host_note, name="add-host-note"),
    path("notes/<int:note_id>/delete/", notes.delete_note, name="delete-note"),
]
