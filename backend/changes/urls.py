from django.urls import path

from changes import api as changes_api
from changes import notification_views as notifications
from changes import views as changes

api = [
    path("changes/", changes_api.FleetChangeList.as_view(), name="changes"),
    path("changes/<int:change_id>/", changes_api.FleetChangeView.as_view(), name="change"),
]

pages = [
    path("changes/", changes.ChangeList.as_view(), name="change-pages"),
    path("changes/<int:pk>/", changes.ChangePage.as_view(), name="change-page"),
    path("changes/<int:pk>/decide/", changes.DecideChange.as_view(), name="decide-change"),
    path("notifications/", notifications.NotificationPage.as_view(), name="notifications"),
    path(
        "notifications/<int:pk>/", notifications.ChannelPage.as_view(), name="notification-channel"
    ),
    path("notifications/<int:pk>/test/", notifications.TestChannel.as_view(), name="test-channel"),
    path(
        "notifications/<int:pk>/delete/",
        notifications.RemoveChannel.as_view(),
        name="delete-channel",
    ),
]
