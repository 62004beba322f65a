"""Say why a file cannot be read."""


def reason(error: BaseException) -> str:
    """Return what went wrong; of an OSError without the path, which may be a scratch folder of the server."""
    if isinstance(error, RuntimeError) and "encrypted" in str(error):  # in the words of zipfile
        return "it is encrypted; pack it without a password"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
