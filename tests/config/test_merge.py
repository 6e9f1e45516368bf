"""Deep merge: laws, markers, and truthful origins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd.config.merge import DELETE, Layer, Replacing, fold, merge, plain
from runherd.config.spec import leaves, lookup

keys = st.sampled_from(["a", "b", "c", "d.e", 'q"', "x y"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.lists(st.integers(0, 2), max_size=2)


def patches(depth: int = 3) -> st.SearchStrategy[Any]:
    if depth == 0:
        return scalars
    inner = patches(depth - 1)
    mappings = st.dictionaries(keys, scalars | inner | st.just(DELETE), max_size=3)
    return mappings | mappings.map(Replacing)


mapping = st.dictionaries(keys, scalars | patches(2) | st.just(DELETE), max_size=3)


@given(mapping, mapping, mapping)
def test_merging_is_associative(a: Any, b: Any, c: Any) -> None:
    """It does not matter which two neighbours are merged first."""
    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert plain(left) == plain(right)
    # They are also the same patch, for whatever may lie below.
    assert plain(merge({"a": {"b": 9}, "c": 1}, left)) == plain(merge({"a": {"b": 9}, "c": 1}, right))


@given(st.lists(mapping, min_size=1, max_size=5))
def test_folding_layers_is_merging_them_and_origins_name_the_supplier(patches_: list[Any]) -> None:
    """The folded data equal the merged patches, and the last layer that set a leaf is its origin."""
    layers = [Layer(f"L{i}", f"f{i}", patch) for i, patch in enumerate(patches_)]
    folded = fold(layers)
    total: Any = {}
    for patch in patches_:
        total = merge(total, patch)
    assert folded.data == plain(total)
    for key, value in leaves(folded.data):
        last = folded.history[key][-1]
        supplier = next(layer for layer in layers if layer.name == last.layer)
        assert plain(lookup(supplier.data, key)) == value == plain(last.value)
        above = layers[layers.index(supplier) + 1 :]
        nothing = object()
        if value != {}:
            assert all(lookup(layer.data, key, nothing) is nothing for layer in above)


@given(mapping, mapping)
def test_later_wins(a: Any, b: Any) -> None:
    """Every leaf that the higher patch sets has its value in the result."""
    result = plain(merge(a, b))
    for key, value in leaves(plain(b)):
        if value != {}:
            assert lookup(result, key) == value


@pytest.mark.parametrize(
    ("low", "high", "result"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": 1, "b": 2}, {"a": DELETE}, {"b": 2}),
        ({"a": {"b": 1}}, {"a": Replacing(c=2)}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
    ],
)
def test_table(low: Any, high: Any, result: Any) -> None:
    """Mappings merge, lists replace, null sets null, deleting and replacing are explicit."""
    assert plain(merge(low, high)) == result
    assert fold([Layer("l", "l", low), Layer("h", "h", high)]).data == result


def test_history_keeps_what_was_overridden() -> None:
    """The history of a leaf names every layer that set it, lowest first."""
    layers = [Layer(n, f"{n}.yaml", {"a": {"b": i}}, {"a.b": i + 7}) for i, n in enumerate("xyz")]
    history = fold(layers).history["a.b"]
    assert [(s.layer, s.line, s.value) for s in history] == [("x", 7, 0), ("y", 8, 1), ("z", 9, 2)]


def test_a_value_in_place_of_a_section_remembers_the_section() -> None:
    """A scalar that replaces a mapping keeps the mapping as what it overrode."""
    layers = [Layer("x", "x", {"a": {"b": 1}}), Layer("y", "y", {"a": 5})]
    folded = fold(layers)
    assert [s.value for s in folded.history["a"]] == [{"b": 1}, 5]
    assert "a.b" not in folded.history


def test_folding_does_not_change_what_it_builds_on() -> None:
    """A base that is shared by many runs stays as it was."""
    base = fold([Layer("x", "x", {"a": {"b": [1], "c": 1}})])
    one = fold([Layer("y", "y", {"a": {"c": 2}})], base)
    one.data["a"]["b"].append(2)
    assert base.data == {"a": {"b": [1], "c": 1}}
    assert len(base.history["a.c"]) == 1
