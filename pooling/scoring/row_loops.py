"""Count ranks and find candidates of one row of scores after the other by compiled loops, on a CPU.

torch reads the scores of a batch once for each step: whether they are finite, counts, masks, maxima, candidates. Here
a row stays in the cache of its core from the first step to the last, and memory is read once. Results are those of
`RankCounts` and `TopCandidates`, bit for bit: scores are compared only, never computed with.

This module has the loops alone, so that numba can keep their machine code beside it; `batches.py` calls them.
"""

from typing import Any

import numpy as np
from numba import njit

SIZE = 16  # columns of a group, far apart, so that a read takes whole lines
FINITE, INFINITE = np.int32(0x7FFFFFFF), np.int32(0x7F800000)
# LAST and NONE stand in top_candidates.py too: numba compiles anew only where this very file has changed
LAST = (1 << 32) - 1
NONE = -0x7F800001 << 32  # the key of no candidate: its score is −inf
LOWEST = np.finfo(np.float32).min
FEW = 512  # keys that are put in order by comparing each with each, which no branch slows down
ROOM = 4096  # candidates of a row that are held until the best k of them are kept, beside k


def _compiled(function: Any) -> Any:
    """Return the function in machine code, which numba keeps on the disk if it finds a folder that it may write to."""
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # no such folder
        return njit(nogil=True, error_model="numpy")(function)


@_compiled
def look_at_rows(
    scores: Any,
    bits: Any,
    width: int,
    first: int,
    own: Any,
    entity: Any,
    own_start: Any,
    masked: Any,
    masked_start: Any,
    known: Any,
    known_start: Any,
    place: Any,
    above: Any,
    at_least: Any,
    before: Any,
    of_known: Any,
    best: Any,
    bad: Any,
    start: int,
    stop: int,
) -> None:
    """Take in the rows start..stop of scores float32[B, ·], of the entities first … first + width.

    `bits` is the same memory as int32. `own` float32[w], `entity` int64[w]: the wanted ones, those of row i from
    `own_start[i]` on; `masked`, `known` int64[·] alike, ascending. `place` int64[E] is the tie order. Written are
    `above`, `at_least`, `before` int64[w], `of_known` float32[·] (the scores of the known), `best` int64[B, k] (keys,
    descending), `bad` bool[B] (whether a score is not finite), and −inf over the scores of what is known.
    """
    k = best.shape[1]
    maxima, merged = np.empty(max(width // SIZE, 1), np.float32), np.empty(max(width // SIZE, 1), np.float32)
    keys = np.empty(k + ROOM, np.int64)
    for i in range(start, stop):
        line = scores[i, :width]
        bad[i] = _largest(bits[i, :width]) >= INFINITE
        if bad[i]:
            continue
        begin, end = _within(known, known_start[i], known_start[i + 1], first, width)
        for at in range(begin, end):
            of_known[at] = line[known[at] - first]
        begin, end = _within(masked, masked_start[i], masked_start[i + 1], first, width)
        for at in range(begin, end):
            line[masked[at] - first] = -np.inf
        for at in range(own_start[i], own_start[i + 1]):
            over, reached = _count(line, own[at])
            above[at] += over
            at_least[at] += reached
            if reached - over > (first <= entity[at] < first + width):  # it is equal to itself
                before[at] += _earlier(line, own[at], place[first : first + width], place[entity[at]])
        if k:
            begin, end = _within(known, known_start[i], known_start[i + 1], first, width)
            for at in range(begin, end):
                line[known[at] - first] = -np.inf
            _add_best(line, bits[i, :width], place[first : first + width], best[i], maxima, merged, keys)


@_compiled
def write_best(
    best: Any,
    order: Any,
    known: Any,
    known_start: Any,
    of_known: Any,
    place: Any,
    entity: Any,
    score: Any,
    raw: Any,
    start: int,
    stop: int,
) -> None:
    """Write the candidates of rows start..stop: `entity` int32, the bits of `score` as int32, `raw` int32, [B, k] each.

    `raw` is the position with the known ones back in. Where there is no candidate, all stay as they are. `order`
    int64[E] inverts `place`; the other arguments are those of `look_at_rows`.
    """
    k = best.shape[1]
    passed = np.empty(k + 1, np.int64)
    bits = of_known.view(np.int32)
    for i in range(start, stop):
        passed[:] = 0
        for at in range(known_start[i], known_start[i + 1]):
            passed[_first_below(best[i], _key(bits[at], place[known[at]]))] += 1
        above = 0
        for j in range(k):
            if best[i, j] == NONE:
                break
            above += passed[j]
            entity[i, j] = order[LAST - (best[i, j] & LAST)]
            score[i, j] = _ascending(np.int32(best[i, j] >> 32))
            raw[i, j] = j + 1 + above


@_compiled
def _largest(bits: Any) -> np.int32:
    """Return the largest size of floats whose bits these are, as bits: those of what is not finite are largest."""
    most = np.int32(0)
    for j in range(len(bits)):
        most = max(most, bits[j] & FINITE)
    return most


@_compiled
def _within(ids: Any, begin: int, end: int, first: int, width: int) -> tuple[int, int]:
    """Return where those of ids begin..end, which ascend, are that lie in first … first + width."""
    while begin < end and ids[begin] < first:
        begin += 1
    while begin < end and ids[end - 1] >= first + width:
        end -= 1
    return begin, end


@_compiled
def _count(line: Any, own: Any) -> tuple[Any, Any]:
    """Return how many scores lie above, and at or above."""
    above, at_least = np.int32(0), np.int32(0)
    for j in range(len(line)):
        above += np.int32(line[j] > own)
        at_least += np.int32(line[j] >= own)
    return above, at_least


@_compiled
def _earlier(line: Any, own: Any, place: Any, of_own: int) -> int:
    """Return how many entities score the same and come first in the tie order."""
    count = 0
    for j in range(len(line)):
        count += line[j] == own and place[j] < of_own
    return count


@_compiled
def _key(bits: Any, place: int) -> Any:
    """Return a number that ascends with the score of these bits and, among equal ones, descends with the place."""
    if bits == np.int32(-0x80000000):  # −0 and 0 are the same score
        bits = np.int32(0)
    return (np.int64(_ascending(bits)) << 32) | (LAST - place)


@_compiled
def _first_below(best: Any, key: int) -> int:
    """Return the first place of `best`, which descends, where less than `key` is; its length if none."""
    low, high = 0, len(best)
    while low < high:
        middle = (low + high) // 2
        if best[middle] < key:
            high = middle
        else:
            low = middle + 1
    return low


@_compiled
def _maxima(line: Any, many: int, size: int, out: Any) -> None:
    """Write the maxima of `many` groups of `size` columns, `many` apart."""
    for g in range(many):
        out[g] = line[g]
    for step in range(1, size):
        part = line[step * many : (step + 1) * many]
        for g in range(many):
            out[g] = max(out[g], part[g])


@_compiled
def _num_reaching(values: Any, least: Any) -> Any:
    """Return how many values are `least` or more."""
    count = np.int32(0)
    for j in range(len(values)):
        count += np.int32(values[j] >= least)
    return count


@_compiled
def _ascending(bits: Any) -> Any:
    """Return a whole number of 32 bits that ascends with the float of these bits, or these bits again from it."""
    return bits ^ FINITE if bits < 0 else bits


@_compiled
def _kth_largest(values: Any, k: int) -> Any:
    """Return the k-th largest of whole numbers int32, by halving: without a branch that cannot be foreseen."""
    low, high = np.int64(values.min()), np.int64(values.max())
    while low < high:
        middle = low + (high - low + 1) // 2
        if _num_reaching(values, np.int32(middle)) >= k:
            low = middle
        else:
            high = middle - 1
    return np.int32(low)


@_compiled
def _keep_best(keys: Any, count: int, k: int, best: Any) -> int:
    """Write the best k of the first `count` keys, no two of them equal, in descending order; return how many."""
    if count > FEW:
        part = np.sort(keys[:count])
        for j in range(min(count, k)):
            best[j] = part[count - 1 - j]
        return min(count, k)
    for i in range(count):
        own, before = keys[i], 0
        for j in range(count):
            before += keys[j] > own
        if before < k:
            best[before] = own
    return min(count, k)


@_compiled
def _take(key: int, keys: Any, count: int, least: int, k: int) -> tuple[int, int]:
    """Append a key that is more than `least`; return how many there are, and what the next must exceed."""
    if key <= least:
        return count, least
    keys[count] = key
    if count + 1 < len(keys):
        return count + 1, least
    count = _keep_best(keys, count + 1, k, keys)
    return count, keys[k - 1]


@_compiled
def _add_best(line: Any, bits: Any, place: Any, best: Any, maxima: Any, merged: Any, keys: Any) -> None:
    """Merge the scores of a row into its best keys so far.

    At least k groups have a maximum that reaches the k-th largest one, so no score below it can be among the best.
    """
    k, width = len(best), len(line)
    count = 0
    while count < k and best[count] != NONE:
        keys[count] = best[count]
        count += 1
    least = best[k - 1]
    many = width // SIZE if width >= SIZE * k else 0  # groups: at least k, or none
    threshold = LOWEST
    if many:
        _maxima(line, many, SIZE, maxima)
        threshold = max(threshold, _reached(maxima, many, merged, k))
    for g in range(many):
        if maxima[g] >= threshold:
            for column in range(g, many * SIZE, many):
                if line[column] >= threshold:
                    count, least = _take(_key(bits[column], place[column]), keys, count, least, k)
    for column in range(many * SIZE, width):
        if line[column] >= threshold:
            count, least = _take(_key(bits[column], place[column]), keys, count, least, k)
    _keep_best(keys, count, k, best)


@_compiled
def _reached(maxima: Any, many: int, merged: Any, k: int) -> Any:
    """Return a score that at least k of `many` maxima reach: the k-th largest maximum of groups of them."""
    size = 1
    while many // (2 * size) >= 2 * k and size < SIZE:
        size *= 2
    groups = many // size
    _maxima(maxima, groups, size, merged)
    bits = merged[:groups].view(np.int32)
    for g in range(groups):
        bits[g] = _ascending(bits[g])
    bits[0] = _ascending(_kth_largest(bits, k))
    return merged[0]
