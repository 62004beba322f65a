"""Static files whose names carry a hash of their content, so that browsers keep them for good: `collectstatic`."""

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]

_IMPORTS = ManifestFilesMixin._js_module_import_aggregation_patterns[1]  # type: ignore[attr-defined]


class HashedFiles(CompressedManifestStaticFilesStorage):
    """Rename what our own modules import too; modules of libraries import by other names."""

    patterns = (*ManifestFilesMixin.patterns, ("js/*.js", _IMPORTS))
