"""Every config field with its default, and the variants of a config."""

import json

from ml_collections import ConfigDict

from main_jax.errors import UserError


def base_config() -> ConfigDict:
    """The shared hyper-parameters; a task's config file changes what its task demands."""
    config = ConfigDict()
    config.task = "reverse"
    config.seed = 0

    # Controller
    config.encoder = "local"  # or "attention", "recurrent"
    config.reach = "near"  # where heads may go; or "anywhere"
    config.view = "blind_start"  # what it sees: one of main_jax.controller.context.VIEWS
    config.channels = 32
    config.num_queries = 4
    config.hidden_sizes = (128,)

    # Episode
    config.halting = "learned"  # by an action, Halt; or by an "oracle" that knows the answer
    config.reward = "progress"  # or "prefix", or "sparse"
    config.cell_reward = 0.3
    config.success_reward = 1.0
    config.steps_per_digit = 1.5
    config.extra_steps = 3
    config.few_digits = 0.25  # the share of training inputs that are made of two digits only
    config.hard_inputs = 0.25  # the share, at most, that are inputs which validation saw go wrong

    # Curriculum: inputs are 1 to C long, and C goes from min_difficulty to max_difficulty
    config.curriculum = "adaptive"  # or "linear"
    config.min_difficulty = 2
    config.max_difficulty = 10
    config.curriculum_start = 1_000_000  # linear only, in timesteps
    config.curriculum_end = 18_000_000
    config.mastery = 0.75  # adaptive only: the share of cells put right at length C that raises C
    config.success_window = 200  # episodes of one length that a running success rate looks back on

    # Learning
    config.total_timesteps = 30_000_000
    config.batch_size = 64  # episodes at once, over all devices
    config.unroll_length = 16
    config.learning_rate = 3e-3
    config.adam_b1 = 0.9
    config.adam_b2 = 0.999
    config.max_gradient_norm = 1.0
    config.discount = 0.99
    config.value_cost = 0.5

    # While exploring and committing. Too low, a policy settles on the first habit that pays and
    # misses the algorithm; too high, it never commits.
    config.entropy_cost = 0.06  # times the mean relative entropy of module and heads
    # Without this one, a policy stays sure of a wrong choice in a case that is rare
    config.evenness_cost = 0.01  # times the mean evenness of module and heads

    # Phases, see main_jax/learning/pace.py
    config.validate_every = 50_000  # timesteps; phases change then
    config.early_halt_price = 0.2  # what halting on a wrong tape costs while exploring ...
    config.wrong_halt_price = 3.0  # ... and later; from the start, it would keep from ever halting
    config.explored_success = 0.9  # at every length; ends exploring
    config.sharpen_timesteps = 100_000  # 0: explore to the end
    config.sharpen_at_most = 300_000  # then it explores anew
    config.doubt_cost = 1.0  # times the mean doubt of module and heads, from sharpening on
    config.settle_timesteps = 40_000

    # A run that has found a wrong habit rarely leaves it. One that explores, or commits, for so
    # many timesteps (twice as many where it mostly succeeds), or in the end does not halt on longer
    # inputs, starts over, from new parameters and within total_timesteps. 0: never
    config.restart_after = 1_500_000

    # Evaluation, on inputs that are never trained on
    config.evaluate_every = 500_000  # timesteps
    config.evaluation_lengths = (10, 20, 100)
    config.num_evaluation_inputs = 100
    config.stop_when_solved = True  # judged at training lengths only

    # Runtime
    config.runtime = "fused"  # one program; "threads" or "ray": actors apart from the learner
    config.num_devices = 0  # that learn, on each host; 0: as many as divide the batch
    config.updates_per_call = 16
    config.checkpoint_every = 1_000_000  # timesteps
    config.checkpoints_kept = 3

    # Actors apart from the learner. Every update takes batch_size / actor_batch_size trajectories,
    # whoever produced them
    config.num_actors = 8
    config.actor_batch_size = 8  # episodes of one actor at once
    config.queue_size = 0  # unrolls begun and not yet learned from, at most; 0: two for each actor
    config.lockstep = False  # an actor waits for a new policy before each unroll
    config.num_actor_devices = 0  # threads only: that act and do not learn; 0: all do both
    config.num_learners = 1  # ray only: processes that share each batch
    return config


# The paper's controller; ours sees and reaches only what is near its heads
PAPER_CONTROLLER = {
    "encoder": "attention",
    "reach": "anywhere",
    "view": "full",
    "learning_rate": 1e-3,
}
# Where every right cell pays. With less entropy, filter_even learned to jump to even digits, which
# is right among ten cells only; elsewhere, this much kept add from learning anything.
PAPER_CONTROLLER_ON_PROGRESS = {
    "entropy_cost": 0.12,
    "min_difficulty": 2,
    "restart_after": 1_500_000,
}
# Elsewhere, it is known with steps to spare only.
PAPER_CONTROLLER_IN_TURN = {"steps_per_digit": 1.5}
# The paper's training where it says how: 30M timesteps at one go, a linear curriculum, an oracle.
PAPER_PROTOCOL = {
    "curriculum": "linear",
    "min_difficulty": 2,
    "sharpen_timesteps": 0,
    "restart_after": 0,
    "stop_when_solved": False,
    "total_timesteps": 30_000_000,
    "halting": "oracle",
}


def walk_config() -> ConfigDict:
    """For tasks in which heads go the same way whatever digits they meet."""
    config = base_config()
    # What is not seen cannot mislead: rules are few, and the network itself can be proved
    config.view = "no_tape_values"
    # It takes less to settle on a habit where there is less to see ...
    config.entropy_cost = 0.04
    # ... and on short inputs, that is steering by both ends, which no longer one has in sight
    config.min_difficulty = 6
    config.restart_after = 1_000_000
    return config


def select_config() -> ConfigDict:
    """For tasks in which what a digit is decides where the heads go."""
    config = base_config()
    # What is under the heads says enough, and rules that ask about no other digit are few
    config.view = "no_tape_values"
    # It finds the way soon or, from this start, never
    config.restart_after = 800_000
    return config


def two_read_config() -> ConfigDict:
    """For tasks that take two reads for each digit; most of them carry something to the next."""
    config = base_config()
    # A carry shows in the digits under the heads
    config.view = "no_tape_values"
    # With steps to spare, a last carry is written by trial: heads look around for digits to make it
    # of, in ways that no short program tells.
    config.steps_per_digit = 1.0
    # A digit depends on those before it. Where every right cell pays, runs settle on what often
    # pays without them: only the digits near a landmark, every other digit, or the most significant
    # one first with a guessed carry.
    config.reward = "prefix"
    # Two reads must be right together before a sum pays: with 0.04, runs did not commit to any.
    config.entropy_cost = 0.03
    # Every digit pays when it is written, and what comes later says little about it: but for a
    # last carry, where a 0 must be written before it can be made a 1. With 0.9, that took longer.
    config.discount = 0.95
    config.cell_reward = 0.5
    # Without the carry, which comes last, no length is mastered; and digits near the landmarks can
    # be found without learning to move the heads, so that most inputs must be longer.
    config.mastery = 0.5
    config.min_difficulty = 6
    config.restart_after = 2_000_000
    return config


def use_paper_controller(config: ConfigDict) -> None:
    config.update(PAPER_CONTROLLER)
    pays_at_once = config.reward == "progress"
    config.update(PAPER_CONTROLLER_ON_PROGRESS if pays_at_once else PAPER_CONTROLLER_IN_TURN)


def train_as_in_paper(config: ConfigDict) -> None:
    use_paper_controller(config)
    config.update({**PAPER_PROTOCOL, "runtime": "threads", "num_actors": 50})


# What may follow the colon in --config=configs/reverse.py:paper
VARIANTS = {"attention": use_paper_controller, "paper": train_as_in_paper}


def variant_of(config: ConfigDict, name: str) -> ConfigDict:
    """A task's config, changed to the variant of that name, if any, and locked."""
    if name:
        if name not in VARIANTS:
            known = ", ".join(VARIANTS)
            raise UserError(f"there is no variant {name!r} of this config; there is: {known}")
        VARIANTS[name](config)
    return config.lock()


# What a config that does not say it means: it was made before there was another way.
EARLIER_MEANING = {"halting": "oracle", "reach": "anywhere"}


def with_defaults(saved: dict) -> dict:
    """The fields of a config from a file; one made before a field existed has its default."""
    return json.loads(base_config().to_json()) | EARLIER_MEANING | saved
