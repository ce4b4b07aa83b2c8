"""By words and by meaning, in one order: how far each message stands out in either, added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from clew.recall.nearness import Near

SHARE = 0.5
"""What standing out in meaning is worth, where standing out in words is worth 1. Fitted in bench/recall.py."""


def fused(words: Mapping[int, float], near: Mapping[int, Near]) -> dict[int, float]:
    """Message → its place among those compared. One whose meaning is not known yet is taken for the least alike."""
    least = min((one.likeness for one in near.values()), default=0.0)
    seqs = list(words)
    alike = [near[seq].likeness if seq in near else least for seq in seqs]
    said, meant = _standing_out([words[seq] for seq in seqs]), _standing_out(alike)
    return {seq: one + SHARE * two for seq, one, two in zip(seqs, said, meant, strict=True)}


def _standing_out(values: Sequence[float]) -> list[float]:
    """By how many deviations each is above the mean."""
    if not values:
        return []
    mean, deviation = fmean(values), pstdev(values) or 1.0
    return [(value - mean) / deviation for value in values]
