"""The controllers that come with the code, ten times longer than anything they were trained on."""

import pytest

from main_jax.environment.tasks import PAPER_TASKS
from main_jax.evaluation.adversarial import evaluate_adversarial
from main_jax.evaluation.evaluate import evaluate
from main_jax.learning.checkpoint import load_controller
from tests.helpers import ROOT

CONTROLLERS = ROOT / "results" / "controllers"
UNSEEN_SEED = 11  # of inputs that neither training nor the results in results/ looked at
LENGTH = 100


@pytest.mark.parametrize("task", [task.name for task in PAPER_TASKS])
def test_solves_every_input_of_length_100(task):
    controller = load_controller(str(CONTROLLERS / task))
    config, agent, params = controller.config, controller.agent, controller.params
    assert config.max_difficulty == 10
    (result,) = evaluate(agent, params, (LENGTH,), 100, UNSEEN_SEED, ("greedy",))
    assert result.solved == result.num_inputs == 100
    cases = evaluate_adversarial(agent, params, (LENGTH,), UNSEEN_SEED, ("greedy",))
    assert [case.case for case in cases if not case.solved] == []
    assert (CONTROLLERS / task / "card.md").is_file()
