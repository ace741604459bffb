"""The only file that knows how arrays lie on devices: pmap, replication, one copy for the host."""

import functools

import jax
import numpy as np

AXIS = "devices"


def choose_devices(batch_size: int, num_devices: int = 0) -> list[jax.Device]:
    """The first `num_devices` local devices; 0 takes the most that divide the batch evenly."""
    devices = jax.local_devices()
    if not num_devices:
        num_devices = max(k for k in range(1, len(devices) + 1) if batch_size % k == 0)
    return devices[:num_devices]


def on_every_device(function, devices, donate_first: bool = False):
    """pmap of a function whose arguments all carry a leading device axis."""
    return jax.pmap(
        function, axis_name=AXIS, devices=devices, donate_argnums=(0,) if donate_first else ()
    )


def replicate(tree, devices):
    """A copy on every device, laid out as pmap lays out its own results.

    Any other layout, such as that of flax.jax_utils.replicate, compiles the program a second time.
    """
    return _replicator(tuple(devices))(np.arange(len(devices)), tree)


@functools.lru_cache
def _replicator(devices):
    return jax.pmap(lambda _, x: x, axis_name=AXIS, in_axes=(0, None), devices=devices)


def split(tree, devices):
    """Puts row d of every array [D, ...] on device d."""
    return on_every_device(lambda x: x, devices)(tree)


def first_replica(tree):
    """A host copy of a replicated tree, of arrays only: [0] alone would make scalars of some."""
    return jax.tree.map(lambda x: np.array(x.addressable_shards[0].data)[0, ...], tree)


def to_host(tree):
    return jax.tree.map(np.asarray, tree)
