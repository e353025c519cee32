from changes.models.fleet_change import FleetChange as FleetChange
from changes.models.fleet_change import FleetChangeMember as FleetChangeMember
from changes.models.notification import Notification as Notification
from changes.models.notification import NotificationChannel as NotificationChannel
