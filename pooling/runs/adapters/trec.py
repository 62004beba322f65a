"""Read TREC runs: lines `question-id Q0 entity rank score tag`, plain or gzip."""

from pooling.runs.adapters.base import Adapter, Answers, Outside
from pooling.runs.adapters.members import begins_as_zip
from pooling.runs.trec_read import read_run_file


def read(outside: Outside) -> Answers:
    """Read every line; TrecError names up to 20 wrong lines."""
    found = read_run_file(
        outside.path,
        outside.name,
        outside.graph,
        outside.topics,
        max_bytes=outside.max_bytes,
        progress=outside.progress,
    )
    return Answers(found, [])


TREC = Adapter(
    "trec",
    "TREC run",
    "Lines `question-id Q0 entity rank score tag`, plain or `.gz`.",
    lambda path: path.is_file() and not begins_as_zip(path),  # what no other form claims
    read,
)
