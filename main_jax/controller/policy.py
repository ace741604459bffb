"""The factored action distribution: independent categoricals for the module and for each head.

For one tape's output; batches come from vmap.
"""

import jax
import jax.numpy as jnp

from main_jax.controller.network import MASKED_LOGIT, ControllerOutput
from main_jax.environment.tape import Action
from main_jax.environment.task import Task

LOG_IMPOSSIBLE = -18.0  # a chance of one in sixty million
BLOCK = 64  # cells of a long tape that are looked at together


def num_choices(task: Task) -> int:
    """The module and each head: as many uniform numbers as one sampled action takes."""
    return 1 + task.num_heads


def choice_names(task: Task) -> list[str]:
    reads = [f"read_{number + 1}" for number in range(task.num_reads)]
    writes = [f"write_{number + 1}" for number in range(task.num_writes)]
    return ["module", *reads, *writes]


def sample(output: ControllerOutput, uniforms: jax.Array) -> Action:
    """Inverse-CDF sampling with uniforms [num_choices]: far cheaper than a Gumbel a cell."""
    return Action(
        module=_inverse_cdf(output.module_logits, uniforms[0]),
        heads=output.options[_inverse_cdf(output.head_logits, uniforms[1:])],
    )


def _inverse_cdf(logits: jax.Array, uniform: jax.Array) -> jax.Array:
    probabilities = jax.nn.softmax(logits)
    if not _in_blocks(logits):
        return _search(probabilities, uniform * probabilities.sum(axis=-1))[0].astype(jnp.int32)
    blocks = probabilities.reshape(*logits.shape[:-1], -1, BLOCK)
    sums = blocks.sum(axis=-1)
    block, threshold = _search(sums, uniform * sums.sum(axis=-1))
    index = block * BLOCK + _search(_take_block(blocks, block), threshold)[0]
    # Sums in another order may differ in the last bit, and point into the padding at the end.
    return jnp.minimum(index, _num_options(logits) - 1).astype(jnp.int32)


def _search(weights: jax.Array, threshold: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The first index with a cumulative weight above the threshold, and how far into it that is."""
    # On CPU, half the time of cumsum.
    cumulative = jax.lax.associative_scan(jnp.add, weights, axis=-1)
    # Sums in another order may differ in the last bit; what has no weight is never chosen.
    reached = jnp.where(weights > 0, cumulative, 0)
    threshold = jnp.minimum(threshold, jnp.nextafter(reached.max(axis=-1), jnp.float32(0)))
    index = jnp.argmax(reached > threshold[..., None], axis=-1)
    before = jnp.take_along_axis(cumulative - weights, index[..., None], axis=-1)[..., 0]
    return index, threshold - before


def greedy(output: ControllerOutput) -> Action:
    return Action(
        module=jnp.argmax(output.module_logits).astype(jnp.int32),
        heads=output.options[_argmax(output.head_logits)],
    )


# How to choose from an output, with uniforms [num_choices] for what is left to chance
POLICIES = {"greedy": lambda output, uniforms: greedy(output), "sample": sample}


def _argmax(logits: jax.Array) -> jax.Array:
    if not _in_blocks(logits):
        return jnp.argmax(logits, axis=-1)
    blocks = logits.reshape(*logits.shape[:-1], -1, BLOCK)
    block = jnp.argmax(blocks.max(axis=-1), axis=-1)
    return block * BLOCK + jnp.argmax(_take_block(blocks, block), axis=-1)


def _in_blocks(logits: jax.Array) -> bool:
    """Whether to look for a block first, then in it: on a long tape, a quarter of the time."""
    return logits.shape[-1] > BLOCK and logits.shape[-1] % BLOCK == 0


def _take_block(
    blocks: jax.Array, block: jax.Array
) -> jax.Array:  # [..., G, BLOCK] -> [..., BLOCK]
    return jnp.take_along_axis(blocks, block[..., None, None], axis=-2)[..., 0, :]


def log_prob(output: ControllerOutput, action: Action) -> jax.Array:
    module = jax.nn.log_softmax(output.module_logits)[action.module]
    heads = jax.nn.log_softmax(output.head_logits)
    # A sum over all options has a cheaper gradient than a look-up.
    chosen = (output.options == action.heads[:, None]) & (output.head_logits > MASKED_LOGIT)
    return module + jnp.where(chosen, heads, 0).sum()


def entropies(output: ControllerOutput) -> jax.Array:  # [num_choices]
    """Of each independent factor; the joint entropy is their sum."""
    return jnp.concatenate([_entropy(output.module_logits[None]), _entropy(output.head_logits)])


def relative_entropy(output: ControllerOutput) -> jax.Array:
    """Mean over the factors of the entropy as a share of the largest possible, 0 to 1.

    A head over a long tape and a choice between two modules weigh the same. Without that, a bonus
    small enough for the heads to commit lets the module freeze before its alternatives are tried.
    """
    shares = [  # a single option has entropy 0, and must not be divided by log 1
        _entropy(logits) / jnp.log(jnp.maximum(_num_options(logits), 2))
        for logits in (output.module_logits[None], output.head_logits)
    ]
    return jnp.concatenate(shares).mean()


def evenness(output: ControllerOutput) -> jax.Array:
    """Mean over the factors of -KL(uniform || policy) / log(options), 0 if all are equally likely.

    Entropy loses its grip on a choice that is almost certain; this pulls the harder, the more
    certain it is. So a policy that is sure of itself in a case it has never solved goes on trying.
    """

    def of(logits):
        count = _num_options(logits)
        log_probs = jnp.where(logits > MASKED_LOGIT, jax.nn.log_softmax(logits), 0)
        divergence = -jnp.log(count) - log_probs.sum(axis=-1) / count
        return -divergence / jnp.log(jnp.maximum(count, 2))

    return jnp.concatenate([of(output.module_logits[None]), of(output.head_logits)]).mean()


def doubt(output: ControllerOutput) -> jax.Array:
    """Mean over the factors of how far the options are from impossible, 0 if all but one are.

    What has become as good as impossible pulls no more, so that choices that come once an episode,
    the first and the last, are heard beside those that come at every step.
    """

    def of(logits):
        unlikely = jnp.maximum(jax.nn.log_softmax(logits), LOG_IMPOSSIBLE) / LOG_IMPOSSIBLE
        is_option = logits > MASKED_LOGIT
        return jnp.sum(jnp.where(is_option, 1 - unlikely, 0), axis=-1) / _num_options(logits)

    return jnp.concatenate([of(output.module_logits[None]), of(output.head_logits)]).mean()


def _num_options(logits: jax.Array) -> jax.Array:
    """How many are not masked."""
    return jnp.sum(logits > MASKED_LOGIT, axis=-1)


def _entropy(logits: jax.Array) -> jax.Array:
    log_probs = jax.nn.log_softmax(logits)
    return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)
