"""The HTTP API: thin views and serializers."""
