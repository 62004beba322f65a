"""What every gunicorn reads that is started in this folder, however it is started."""

forwarder_headers = ""  # a header SCRIPT_NAME would change which page is asked for, or end in an error
