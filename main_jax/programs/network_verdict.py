"""Finds a program that a network can be proved to be, and the proof."""

import dataclasses

from main_jax.controller.agent import Agent
from main_jax.programs.by_rules import NoProgram
from main_jax.programs.explanation import NONE, UNREAD
from main_jax.programs.extract import extract
from main_jax.programs.network import NetworkProof, check_provable, prove_network
from main_jax.programs.program import Program
from main_jax.programs.sights import NotShown
from main_jax.programs.verdict import judge


@dataclasses.dataclass(frozen=True)
class NetworkVerdict:
    """Of the way that holds; if none does, of the last one that came to a comparison."""

    program: Program | None = None
    proof: NetworkProof | None = None
    problems: tuple[str, ...] = ()  # one for each way that was tried and does not hold

    @property
    def proved(self) -> bool:
        return self.proof is not None and self.proof.holds

    def __str__(self):
        return str(self.proof) if self.proved else "; ".join(dict.fromkeys(self.problems))


def judge_network(agent: Agent, params) -> NetworkVerdict:
    """By a program that says where every head goes, else by one that leaves open what nobody reads.

    The first has less to compare. But where nobody reads, a head may have wandered by no rule.
    """
    check_provable(agent)
    verdict = NetworkVerdict()
    for free in (NONE, UNREAD):
        try:
            program = extract(agent, params, free=free)
            certificate = judge(program).certificate
            if certificate is None:
                raise NotShown("the program is not proved")
            proof = prove_network(agent, params, certificate)
        except (NoProgram, NotShown) as problem:
            problems = (*verdict.problems, str(problem))
            verdict = dataclasses.replace(verdict, problems=problems)
            continue
        if proof.holds:
            return NetworkVerdict(program, proof)
        verdict = NetworkVerdict(program, proof, (*verdict.problems, str(proof)))
    return verdict
