"""Oldest first: the order of elements whose export lists the newest first, or in no order at all.

Only comparing happens here; what an event's time is stays the normaliser's business.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from adapters.exports.tree import time_rank


def oldest_first(times: Sequence[object], ranks: Sequence[int] | None = None) -> list[int]:
    """Give the places of elements, oldest first; at equal times the lower rank first: a question before its answer.

    `times` are raw; the direction in which the file goes decides among equals. An element without a time stays beside
    the element that stands before it in time.
    """
    moments = [time_rank(time) for time in times]
    places = list(range(len(moments)))
    if _newest_first(moments):
        places.reverse()
    keys: list[tuple[float, int]] = [(0.0, 0)] * len(places)
    last = next((moments[place] for place in places if math.isfinite(moments[place])), 0.0)
    for place in places:
        if math.isfinite(moments[place]):
            last = moments[place]
        keys[place] = (last, ranks[place] if ranks else 0)
    return sorted(places, key=keys.__getitem__)


def _newest_first(moments: Sequence[float]) -> bool:
    known = [moment for moment in moments if math.isfinite(moment)]
    falls = sum(later < earlier for earlier, later in pairwise(known))
    rises = sum(later > earlier for earlier, later in pairwise(known))
    return falls > rises
