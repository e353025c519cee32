"""Addresses of the pages (contract, section 7)."""

from django.contrib.auth import views as auth_views
from django.urls import path

from pages.views import (
    compare,
    diff,
    exports,
    hosts,
    plain,
    profiles,
    recommend,
    report,
    runs,
    saved_views,
    tokens,
    upload,
)

urlpatterns = [
    path("", compare.compare_page, name="compare"),
    path("hosts/", hosts.host_list, name="host-pages"),
    path("hosts/<int:host_id>/", hosts.host_page, name="host-page"),
    path("runs/", runs.run_list, name="run-pages"),
    path("runs/<uuid:run_id>/", runs.run_page, name="run-page"),
    path("runs/<uuid:run_id>/diff/", diff.run_diff_choice, name="run-page-diff-choice"),
    path("runs/<uuid:run_id>/diff/<uuid:other_id>/", diff.run_diff, name="run-page-diff"),
    path("hosts/<int:host_id>/diff/", diff.host_diff_choice, name="host-page-diff-choice"),
    path("hosts/<int:host_id>/diff/<int:other_id>/", diff.host_diff, name="host-page-diff"),
    path("recommend/", recommend.recommend_page, name="recommend"),
    path("report.html", report.report_page, name="report"),
    path("exports/", exports.export_list, name="export-pages"),
    path("exports/download/", exports.start_download, name="start-download"),
    path("exports/<uuid:job_id>/delete/", exports.delete_export, name="delete-export"),
    path("upload/", upload.upload_page, name="upload"),
    path("upload/save/", upload.save_upload, name="save-upload"),
    path("tokens/", tokens.token_page, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke_token, name="revoke-token"),
    path("views/", saved_views.view_list, name="saved-views"),
    path("views/<int:view_id>/rename/", saved_views.rename_view, name="rename-view"),
    path("views/<int:view_id>/delete/", saved_views.delete_view, name="delete-view"),
    path("method/", plain.method_page, name="method"),
    path("method/profiles/", profiles.profiles_page, name="profiles"),
    path("method/profiles/compare/", profiles.compare_profiles_page, name="profile-comparison"),
    path(
        "method/profiles/<int:profile_id>/activate/",
        profiles.activate_profile,
        name="activate-profile",
    ),
    path(
        "method/profiles/<int:profile_id>/retire/", profiles.retire_profile, name="retire-profile"
    ),
    path("method/sensitivity/", profiles.sensitivity_page, name="sensitivity"),
    path(
        "accounts/login/",
        auth_views.LoginView.as_view(
            template_name="pages/login.html", redirect_authenticated_user=True
        ),
        name="login",
    ),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
]
