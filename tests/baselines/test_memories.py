"""Addressing of NTM and DNC against numbers worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from baselines import dnc, ntm


def say(**changes) -> ntm.Addressing:
    """Stays where the head was, unless told otherwise."""
    values = {"key": [1.0, 0.0], "strength": [1.0], "gate": [0.0], "shift": [0.0, 1.0, 0.0]}
    values |= {"sharpness": [1.0]} | changes
    return ntm.Addressing(**{name: jnp.array([value]) for name, value in values.items()})


MEMORY = jnp.array([[[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [1.0, 1.0]]])
BEFORE = jnp.array([[0.5, 0.5, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [0.5, 0.5, 0, 0]),
        ({"shift": [0.0, 0.0, 1.0]}, [0, 0.5, 0.5, 0]),
        ({"shift": [1.0, 0.0, 0.0]}, [0.5, 0, 0, 0.5]),  # around the edge
        ({"shift": [0.0, 0.5, 0.5]}, [0.25, 0.5, 0.25, 0]),
        # 0.25² : 0.5² : 0.25² is 1 : 4 : 1
        ({"shift": [0.0, 0.5, 0.5], "sharpness": [2.0]}, [1 / 6, 2 / 3, 1 / 6, 0]),
        # Cosines 1, 0, -1 and √½, times ln 4 / 2 and so on: e^(2x) with x = cosine
        (
            {"gate": [1.0], "strength": [2.0]},
            np.exp([2, 0, -2, 2**0.5]) / np.exp([2, 0, -2, 2**0.5]).sum(),
        ),
        ({"gate": [0.5], "strength": [0.0]}, [0.375, 0.375, 0.125, 0.125]),
    ],
)
def test_ntm_address(changes, expected):
    weights = ntm.address(MEMORY, BEFORE, say(**changes))
    np.testing.assert_allclose(weights, [expected], atol=1e-5)


def test_dnc_allocates_the_least_used_row_first():
    # In order of usage: 0.1, 0.5, 0.8; so 0.9, 0.5·0.1 and 0.2·0.1·0.5
    np.testing.assert_allclose(
        dnc.allocation(jnp.array([[0.5, 0.1, 0.8]])), [[0.05, 0.9, 0.01]], atol=1e-5
    )


def test_dnc_allocates_the_first_of_rows_used_alike():
    np.testing.assert_allclose(dnc.allocation(jnp.zeros((1, 3))), [[1, 0, 0]], atol=1e-4)


def memory_state(**changes) -> dnc.MemoryState:
    values = {
        "memory": jnp.zeros((1, 3, 2)),
        "usage": jnp.zeros((1, 3)),
        "precedence": jnp.zeros((1, 3)),
        "links": jnp.zeros((1, 3, 3)),
        "write_at": jnp.zeros((1, 3)),
        "read_at": jnp.zeros((1, 1, 3)),
    }
    return dnc.MemoryState(**values | changes)


def test_dnc_usage_grows_by_writes_and_goes_by_freed_reads():
    state = memory_state(
        usage=jnp.array([[0.5, 0.0, 1.0]]),
        write_at=jnp.array([[0.5, 0.2, 0.0]]),
        read_at=jnp.array([[[0.0, 0.0, 1.0]]]),
    )
    usage = dnc.updated_usage(state, jnp.array([[0.75]]))
    np.testing.assert_allclose(usage, [[0.75, 0.2, 0.25]], atol=1e-6)


def interface(**changes) -> dnc.Interface:
    """Writes [1, 2] to the next free row; reads nothing in particular."""
    values = {
        "read_keys": jnp.zeros((1, 1, 2)),
        "read_strengths": jnp.zeros((1, 1)),
        "free_gates": jnp.zeros((1, 1)),
        "read_modes": jnp.array([[[0.0, 1.0, 0.0]]]),
        "write_key": jnp.zeros((1, 2)),
        "write_strength": jnp.zeros((1, 1)),
        "allocation_gate": jnp.ones((1, 1)),
        "write_gate": jnp.ones((1, 1)),
        "erase": jnp.ones((1, 2)),
        "add": jnp.array([[1.0, 2.0]]),
    }
    return dnc.Interface(**values | changes)


def test_dnc_reads_forward_and_backward_in_the_order_of_writing():
    """Three writes go to three rows; from the middle one, links lead to the last and the first."""
    state = memory_state()
    for word in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        state, _ = dnc.access(state, interface(add=jnp.array([word])))
    np.testing.assert_allclose(state.memory[0], [[1, 0], [0, 1], [1, 1]], atol=1e-3)
    middle = state.replace(read_at=jnp.array([[[0.0, 1.0, 0.0]]]))
    nothing = {"write_gate": jnp.zeros((1, 1))}
    forward = interface(read_modes=jnp.array([[[0.0, 0.0, 1.0]]]), **nothing)
    backward = interface(read_modes=jnp.array([[[1.0, 0.0, 0.0]]]), **nothing)
    np.testing.assert_allclose(dnc.access(middle, forward)[1], [[[1, 1]]], atol=1e-2)
    np.testing.assert_allclose(dnc.access(middle, backward)[1], [[[1, 0]]], atol=1e-2)


def test_dnc_links_by_hand():
    """Row 1 is written after row 0: half of it now, half of row 0's link to itself never."""
    links = dnc.updated_links(
        jnp.zeros((1, 2, 2)), jnp.array([[1.0, 0.0]]), jnp.array([[0.25, 0.5]])
    )
    np.testing.assert_allclose(links, [[[0, 0], [0.5, 0]]], atol=1e-6)
    # (1 - w_i - w_j) of what was, and w_i of the precedence
    links = dnc.updated_links(links, jnp.array([[0.2, 0.8]]), jnp.array([[0.5, 0.25]]))
    np.testing.assert_allclose(links, [[[0, 0.4], [0.25 * 0.5 + 0.05, 0]]], atol=1e-6)
