"""Average-hard networks typed in by hand, each with something that softening has to notice."""

from __future__ import annotations

from attemper.networks.layers import Network
from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network

ONE = {"one": "1"}
AT_I = ["position"]
OVER_N = ["power", ["length"], -1]
SHARE_OF_WAY = {"place": ["product", [AT_I, OVER_N]]}
"""i/n."""

A = {"a": {"a": 1}}


def last_a() -> Network:
    """Where the last a stands, as a share of the word; where the last position is, if there is no a."""
    head = HeadOf("<=", {"where": {"place": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])
    return hard_network(
        "ab", embedding=A, positions=ONE | SHARE_OF_WAY, layers=[LayerOf([head])], output="where"
    )


def tied_at_seven() -> Network:
    """Position 1, by -(j - 1)^2; at n = 7 alone positions 3 and 4 are as far from 7/2."""
    is_seven = ["test", ["zero"], 0, 1, -7]
    centre = ["sum", [["number", "1"], ["product", [["number", "5/2"], is_seven]]]]
    squares = {
        "j": AT_I,
        "minus square": ["product", [["number", "-1"], AT_I, AT_I]],
        "twice": ["product", [["number", "2"], centre]],
    }
    head = HeadOf(
        "all", {"read": {"a": 1}}, query=[{"twice": 1}, {"one": 1}], key=[{"j": 1}, {"minus square": 1}]
    )
    return hard_network("ab", embedding=A, positions=ONE | squares, layers=[LayerOf([head])], output="read")


def ever_closer(most: int) -> Network:
    """The last a, where a step costs 2^-n: such a number is nothing that grows like a power of n."""
    steps = [
        ["product", [["number", f"1/{2**k}"], AT_I, ["test", ["zero"], 0, 1, -k]]] for k in range(1, most + 1)
    ]
    head = HeadOf("<=", {"where": {"a": 1}}, query=[{"one": 1}], key=[{"step": 1}])
    return hard_network(
        "ab", embedding=A, positions=ONE | {"step": ["sum", steps]}, layers=[LayerOf([head])], output="where"
    )


def two_into_one() -> Network:
    """The last a's place and the share of a's, added up in one coordinate, and half of that put out."""
    last = HeadOf("<=", {"sum": {"place": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])
    share = HeadOf("all", {"sum": {"a": 1}})
    return hard_network(
        "ab",
        embedding=A,
        positions=ONE | SHARE_OF_WAY,
        layers=[LayerOf([last, share], [UnitOf({"sum": 1}, {"out": "1/2"})])],
        output="out",
    )


def uniform_only() -> Network:
    """The share of a's so far, then whether it is above one half."""
    share = HeadOf("<=", {"share": {"a": 1}}, query=[{"a": 1}], key=[{"one": 1}])
    over = [UnitOf({"share": 1}, {"above": 1}, bias="-1/2")]
    return hard_network("ab", embedding=A, positions=ONE, layers=[LayerOf([share], over)], output="above")
