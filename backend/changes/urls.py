from django.urls import path

from changes import api as changes_api
from changes import notification_views as notifications
from changes import views as changes

api = [
    path("changes/", changes_api.FleetChangeList.as_view(), name="changes"),
    path("changes/<int:change_id>/", changes_api.FleetChangeView.as_view(), name="change"),
]

pages = [
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
]
