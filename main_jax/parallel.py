"""The only file that knows how arrays lie on devices and processes: pmap, replication, agreement.

With several processes (jax.distributed), `devices` are those of all of them, and every process
makes the same calls in the same order.
"""

import contextlib
import functools
import json
import os

import jax
import numpy as np
from jax.experimental import multihost_utils

from main_jax.errors import UserError
from main_jax.terminal import say

AXIS = "devices"
# After which a process that is gone takes the others down, so that none waits for it forever.
SECONDS_TO_NOTICE = 30
SECONDS_TO_MEET = 120


def choose_devices(batch_size: int, num_devices: int = 0, reserved: int = 0) -> list[jax.Device]:
    """The first `num_devices` of each process; 0 takes the most that divide the batch evenly.

    The last `reserved` ones of a process are left for something else.
    """
    num_processes = jax.process_count()
    if not num_devices:
        candidates = range(1, min(devices_by_process()) - reserved + 1)
        divide = [k for k in candidates if batch_size % (k * num_processes) == 0]
        if not divide:
            raise UserError(
                f"config.batch_size is {batch_size}; it must be a multiple of the number of "
                f"processes, {num_processes}"
            )
        num_devices = max(divide)
    return [
        device
        for process in range(num_processes)
        for device in jax.local_devices(process_index=process)[:num_devices]
    ]


def devices_by_process() -> list[int]:
    return [len(jax.local_devices(process_index=p)) for p in range(jax.process_count())]


def divide_devices(batch_size: int, num_devices: int, num_actor_devices: int):
    """Of this process: those that learn, and those that act, which may be the same."""
    learning = choose_devices(batch_size, num_devices, reserved=num_actor_devices)
    return learning, jax.local_devices()[-num_actor_devices:] if num_actor_devices else learning


def local_indices(devices) -> np.ndarray:
    """Where this process's own are among the devices."""
    own = [i for i, device in enumerate(devices) if device.process_index == jax.process_index()]
    return np.array(own)


def on_every_device(function, devices, donate: tuple[int, ...] = ()):
    """pmap of a function whose arguments all carry a leading axis, of this process's devices."""
    return jax.pmap(function, axis_name=AXIS, devices=devices, donate_argnums=donate)


def replicate(tree, devices):
    """A copy on every device, laid out as pmap lays out its own results.

    Any other layout, such as that of flax.jax_utils.replicate, compiles the program a second time.
    """
    return _replicator(tuple(devices))(local_indices(devices), tree)


@functools.lru_cache
def _replicator(devices):
    return jax.pmap(lambda _, x: x, axis_name=AXIS, in_axes=(0, None), devices=devices)


def split(tree, devices):
    """Puts row d of every array [D, ...] on device d."""
    own = local_indices(devices)
    return on_every_device(lambda x: x, devices)(jax.tree.map(lambda x: x[own], tree))


def first_replica(tree):
    """A host copy of a replicated tree, of arrays only: [0] alone would make scalars of some."""
    return jax.tree.map(lambda x: np.array(x.addressable_shards[0].data)[0, ...], tree)


def to_host(tree):
    """Arrays [D, ...] of this process's devices."""
    return jax.tree.map(np.asarray, tree)


def gather(tree):
    """Arrays [D, ...] of all processes' devices, on the host of every process."""
    own = to_host(tree)
    if jax.process_count() == 1:
        return own
    return multihost_utils.process_allgather(own, tiled=True)


def join_processes(coordinator: str | None, num_processes: int | None, process_id: int | None):
    """Makes this process one of several that train together; on a TPU pod, JAX knows them."""
    # JAX's own handling of SIGTERM would take the place of ours.
    jax.config.update("jax_enable_preemption_service", False)
    on_loopback = coordinator and coordinator.startswith(("127.", "localhost:"))
    jax.distributed.initialize(
        coordinator,
        num_processes,
        process_id,
        coordinator_bind_address=coordinator if on_loopback else None,  # None: all interfaces
        initialization_timeout=SECONDS_TO_MEET,
        heartbeat_timeout_seconds=SECONDS_TO_NOTICE,
        shutdown_timeout_seconds=SECONDS_TO_NOTICE,
    )


@contextlib.contextmanager
def joined(coordinator: str | None, num_processes: int | None, process_id: int | None):
    """Within, this process trains together with the others; if one is gone, all end at once."""
    try:
        join_processes(coordinator, num_processes, process_id)
    except (RuntimeError, ValueError) as error:
        raise UserError(f"the processes have not met at {coordinator}: {error}") from error
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        if isinstance(error, ValueError) and "Gloo" not in str(error):  # as JAX raises some of them
            raise
        say(f"error: another process is gone: {str(error).splitlines()[0][:200]}")
        os._exit(1)  # in the usual way, JAX would wait for the one that is gone, and then abort


def is_first_process() -> bool:
    return jax.process_index() == 0


def any_process(condition: bool) -> bool:
    """Whether it holds on any process; they agree."""
    if jax.process_count() == 1:
        return condition
    return bool(multihost_utils.process_allgather(np.array(condition)).any())


def from_first_process(tree):
    """The first process's arrays, on every process."""
    if jax.process_count() == 1:
        return tree
    return jax.tree.map(np.asarray, multihost_utils.broadcast_one_to_all(tree))


def by_first_process(function):
    """Calls it on the first process alone; its result (JSON), or its UserError, is everyone's."""
    if jax.process_count() == 1:
        return function()
    answer = {}
    if is_first_process():
        try:
            answer = {"result": function()}
        except (UserError, OSError) as error:
            answer = {"error": str(error)}
    text = np.frombuffer(json.dumps(answer).encode(), np.uint8)
    size = int(from_first_process(np.array(len(text))))
    text = text if is_first_process() else np.zeros(size, np.uint8)
    answer = json.loads(from_first_process(text).tobytes())
    if "error" in answer:
        raise UserError(answer["error"])
    return answer["result"]
