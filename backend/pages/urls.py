"""Addresses of the pages, which people keep and share."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from changes import views as changes
from hosts import side_by_side
from pages import editing, notes, notifications, shares
from pages.compare import page as compare
from pages.compare import relating
from pages.docs import views as docs
from pages.hosts import runs
from pages.hosts import views as hosts
from pages.method import method_page
from pages.setup import tokens
from pages.sign_in import oidc
from pages.sign_in.password import SignInView
from pages.upload import views as upload
from recommend.views import recommend_page

urlpatterns = [
    path("", compare.compare_page, name="compare"),
    path("upgrade-cost/", relating.upgrade_cost, name="upgrade-cost"),
    path("hosts/", hosts.host_list, name="host-pages"),
    path("hosts/<int:host_id>/", hosts.host_page, name="host-page"),
    path("runs/", runs.run_list, name="run-pages"),
    path("runs/<uuid:run_id>/", runs.run_page, name="run-page"),
    path("runs/diff/", side_by_side.runs_side_by_side, name="run-pages-diff"),
    path("hosts/diff/", side_by_side.hosts_side_by_side, name="host-pages-diff"),
    path("runs/<uuid:run_id>/diff/", side_by_side.run_diff_choice, name="run-page-diff-choice"),
    path("runs/<uuid:run_id>/diff/<uuid:other_id>/", side_by_side.run_diff, name="run-page-diff"),
    path("hosts/<int:host_id>/diff/", side_by_side.host_diff_choice, name="host-page-diff-choice"),
    path("hosts/<int:host_id>/diff/<int:other_id>/", side_by_side.host_diff, name="host-page-diff"),
    path("runs/hidden/", editing.hidden_run_list, name="hidden-runs"),
    path("runs/<uuid:run_id>/hide/", editing.hide_run, name="hide-run"),
    path("runs/<uuid:run_id>/show/", editing.show_run, name="show-run"),
    path("runs/<uuid:run_id>/remove/", editing.remove_run, name="remove-run"),
    path("hosts/<int:host_id>/rename/", editing.rename_host, name="rename-host"),
    path("hosts/<int:host_id>/merge/", editing.merge_choice, name="merge-host-choice"),
    path("hosts/<int:host_id>/merge/<int:other_id>/", editing.merge_hosts, name="merge-host"),
    path("hosts/aliases/<int:alias_id>/remove/", editing.remove_alias, name="remove-alias"),
    path("hosts/<str:key>/", hosts.host_by_key, name="host-by-key"),
    path("changes/", changes.change_list, name="change-pages"),
    path("changes/<int:change_id>/", changes.change_page, name="change-page"),
    path("changes/<int:change_id>/decide/", changes.decide_change, name="decide-change"),
    path("notifications/", notifications.notification_page, name="notifications"),
    path(
        "notifications/<int:channel_id>/", notifications.channel_page, name="notification-channel"
    ),
    path("notifications/<int:channel_id>/test/", notifications.test_channel, name="test-channel"),
    path(
        "notifications/<int:channel_id>/delete/",
        notifications.remove_channel,
        name="delete-channel",
    ),
    path("hosts/<int:host_id>/notes/", notes.add_host_note, name="add-host-note"),
    path("notes/<int:note_id>/delete/", notes.delete_note, name="delete-note"),
    path("shares/", shares.share_list, name="shares"),
    path("shares/<int:share_id>/revoke/", shares.revoke_share, name="revoke-share"),
    path("shares/<str:secret>/", shares.share_page, name="share"),
    path("shares/<str:secret>/comparison.csv", shares.share_file, name="share-csv"),
    path("audit/", editing.audit_page, name="audit"),
    path("recommend/", recommend_page, name="recommend"),
    path("docs/", docs.docs_page, name="docs"),
    path("docs/pictures/<str:name>", docs.docs_picture, name="docs-picture"),
    path("docs/<path:name>/", docs.docs_page, name="docs-page"),
    path("upload/", upload.upload_page, name="upload"),
    path("upload/save/", upload.save_upload, name="save-upload"),
    path("tokens/", tokens.token_page, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke-token"),
    path("method/", method_page, name="method"),
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/oidc/", oidc.start, name="oidc-start"),
    path("accounts/oidc/callback/", oidc.callback, name="oidc-callback"),
]
