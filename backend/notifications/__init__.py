"""Messages to people and programs outside: channels, what they are sent, and how."""
