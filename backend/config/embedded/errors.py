"""What goes wrong with the embedded servers, said in one sentence."""


class EmbeddedServiceError(RuntimeError):
    """An embedded server cannot be started or used; the message says which, where and why."""
