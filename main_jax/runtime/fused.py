"""Fused runtime: acting and learning in one program, many updates a call, on every device."""

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from main_jax import curriculum as curricula
from main_jax import parallel
from main_jax.actor import ActorState, init_actor, unroll
from main_jax.agent import Agent
from main_jax.curriculum import Curriculum
from main_jax.learner import LearnerState, init_learner, update


class FusedState(struct.PyTreeNode):
    """Everything that training depends on, so that a saved one continues bit for bit."""

    learner: LearnerState  # the same on every device
    curriculum: Curriculum  # the same on every device
    timesteps: jax.Array  # i32[], the same on every device, over all devices
    actor: ActorState  # [D], one on each device


class FusedRuntime:
    def __init__(self, agent: Agent, config):
        self.agent = agent
        self.config = config
        self.devices = parallel.choose_devices(config.batch_size, config.num_devices)
        self._run = parallel.on_every_device(self._many_updates, self.devices, donate_first=True)
        self.state = self._initial_state()
        self.timesteps = 0

    @property
    def timesteps_per_call(self) -> int:
        config = self.config
        return config.updates_per_call * config.batch_size * config.unroll_length

    def _initial_state(self) -> FusedState:
        config, count = self.config, len(self.devices)
        learner_key, actor_key = jax.random.split(jax.random.PRNGKey(config.seed))
        learner = jax.jit(lambda key: init_learner(self.agent, config, key))(learner_key)
        curriculum = curricula.init_curriculum(config)

        def one_actor(index):
            return init_actor(
                self.agent,
                jax.random.fold_in(actor_key, index),
                config.batch_size // count,
                curriculum.max_difficulty,
                config.max_difficulty,
            )

        return FusedState(
            learner=parallel.replicate(learner, self.devices),
            curriculum=parallel.replicate(curriculum, self.devices),
            timesteps=parallel.replicate(jnp.int32(0), self.devices),
            actor=parallel.on_every_device(one_actor, self.devices)(jnp.arange(count)),
        )

    def _many_updates(self, state: FusedState) -> tuple[FusedState, dict]:
        state, metrics = lax.scan(self._one_update, state, length=self.config.updates_per_call)
        return state, jax.tree.map(jnp.mean, metrics)

    def _one_update(self, state: FusedState, _) -> tuple[FusedState, dict]:
        config = self.config
        actor, trajectory = unroll(
            self.agent,
            state.learner.params,
            state.actor,
            state.curriculum.max_difficulty,
            config.max_difficulty,
            config.unroll_length,
        )
        annealed = curricula.annealed(config, state.curriculum, state.timesteps)
        learner, metrics = update(
            self.agent, config, state.learner, trajectory, annealed, parallel.AXIS
        )
        timesteps = state.timesteps + config.batch_size * config.unroll_length
        episodes = lax.psum(
            curricula.count_episodes(trajectory, config.max_difficulty), parallel.AXIS
        )
        curriculum = curricula.advance(config, state.curriculum, timesteps, episodes)
        return FusedState(learner, curriculum, timesteps, actor), metrics

    def step(self) -> dict:
        """One call of the device program; returns its metrics, on the host."""
        self.state, metrics = self._run(self.state)
        metrics = parallel.first_replica(metrics)  # waits, so that calls never pile up
        self.timesteps += self.timesteps_per_call
        return metrics

    @property
    def params(self) -> dict:
        return parallel.first_replica(self.state.learner.params)

    @property
    def curriculum(self) -> Curriculum:
        return parallel.first_replica(self.state.curriculum)

    @property
    def fully_annealed(self) -> bool:
        return bool(curricula.annealed(self.config, self.curriculum, self.timesteps) == 1)

    def snapshot(self) -> FusedState:
        """The whole state on the host: one copy of what is replicated."""
        actor = parallel.to_host(self.state.actor)
        return parallel.first_replica(self.state.replace(actor=None)).replace(actor=actor)

    def load(self, snapshot: FusedState) -> None:
        replicated = parallel.replicate(snapshot.replace(actor=None), self.devices)
        self.state = replicated.replace(actor=parallel.split(snapshot.actor, self.devices))
        self.timesteps = int(snapshot.timesteps)
