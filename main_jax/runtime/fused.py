"""Fused runtime: acting and learning in one program, many updates a call, on every device."""

import jax
import jax.numpy as jnp
import numpy as np
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
    timesteps: jax.Array  # i32[], the same on every device, over all devices and attempts
    attempt: jax.Array  # i32[], the same on every device, how often training started over
    began: jax.Array  # i32[], the same on every device, timesteps when this attempt began
    actor: ActorState  # [D], one on each device


class FusedRuntime:
    def __init__(self, agent: Agent, config):
        self.agent = agent
        self.config = config
        self.devices = parallel.choose_devices(config.batch_size, config.num_devices)
        self._begin = parallel.on_every_device(self._begin_on_device, self.devices)
        self._run = parallel.on_every_device(self._many_updates, self.devices, donate_first=True)
        self.state = self._initial_state()
        self.timesteps = 0

    @property
    def timesteps_per_call(self) -> int:
        config = self.config
        return config.updates_per_call * config.batch_size * config.unroll_length

    def _initial_state(self, attempt: int = 0, timesteps: int = 0) -> FusedState:
        count = len(self.devices)
        return self._begin(np.arange(count), np.full(count, attempt), np.full(count, timesteps))

    def _begin_on_device(self, index, attempt, timesteps) -> FusedState:
        config = self.config
        key = jax.random.fold_in(jax.random.PRNGKey(config.seed), attempt)
        learner_key, actor_key = jax.random.split(key)
        curriculum = curricula.init_curriculum(config)
        return FusedState(
            learner=init_learner(self.agent, config, learner_key),
            curriculum=curriculum,
            timesteps=timesteps,
            attempt=attempt,
            began=timesteps,
            actor=init_actor(
                self.agent,
                jax.random.fold_in(actor_key, index),
                config.batch_size // len(self.devices),
                curriculum.max_difficulty,
                config.max_difficulty,
            ),
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
        annealed = curricula.annealed(config, state.curriculum, state.timesteps - state.began)
        learner, metrics = update(
            self.agent, config, state.learner, trajectory, annealed, parallel.AXIS
        )
        timesteps = state.timesteps + config.batch_size * config.unroll_length
        episodes = lax.psum(
            curricula.count_episodes(trajectory, config.max_difficulty), parallel.AXIS
        )
        curriculum = curricula.advance(config, state.curriculum, timesteps - state.began, episodes)
        state = state.replace(
            learner=learner, curriculum=curriculum, timesteps=timesteps, actor=actor
        )
        return state, metrics

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
        return bool(curricula.annealed(self.config, self.curriculum, self._elapsed) == 1)

    def anneal_again(self) -> None:
        """Back to full step size and bonus, which find what is still wrong, and down once more."""
        start = parallel.replicate(np.int32(self._elapsed), self.devices)
        self.state = self.state.replace(
            curriculum=self.state.curriculum.replace(anneal_start=start)
        )

    @property
    def attempt(self) -> int:
        return self._scalar(self.state.attempt)

    @property
    def stuck(self) -> bool:
        """Whether this attempt has had its time and not come far enough to anneal."""
        late = self.config.restart_after and self._elapsed >= self.config.restart_after
        return bool(late and self.curriculum.anneal_start == curricula.NOT_YET)

    def start_over(self) -> None:
        """Forgets all but the timesteps, for another attempt with other random numbers."""
        self.state = self._initial_state(self.attempt + 1, self.timesteps)

    @property
    def _elapsed(self) -> int:
        """Timesteps of this attempt."""
        return self.timesteps - self._scalar(self.state.began)

    @staticmethod
    def _scalar(replicated) -> int:
        return int(parallel.first_replica(replicated))

    def snapshot(self) -> FusedState:
        """The whole state on the host: one copy of what is replicated."""
        actor = parallel.to_host(self.state.actor)
        return parallel.first_replica(self.state.replace(actor=None)).replace(actor=actor)

    def load(self, snapshot: FusedState) -> None:
        replicated = parallel.replicate(snapshot.replace(actor=None), self.devices)
        self.state = replicated.replace(actor=parallel.split(snapshot.actor, self.devices))
        self.timesteps = int(snapshot.timesteps)
