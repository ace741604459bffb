"""Proves that a program is right for every input of every length, or says where it is wrong.

  python launch/prove.py --program=program.json [--certificate=certificate.json]
  python launch/prove.py --check=certificate.json [--solver=cvc5]
  python launch/prove.py --network=DIR_OR_FILE

With --network, that a controller is its program on tapes of every length, and that this is right.
Prints `proved`, `wrong` or `not proved` first; exit code 0, 1 or 3. Needs z3: the extra `proof`.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

PROGRAM = flags.DEFINE_string("program", None, "A program.json of launch/extract.py.")
CERTIFICATE = flags.DEFINE_string("certificate", None, "Where to write the proof, if there is one.")
CHECK = flags.DEFINE_string("check", None, "A certificate to check instead, without any search.")
NETWORK = flags.DEFINE_string("network", None, "A controller to prove itself: a workdir or a file.")
SOLVER = flags.DEFINE_enum("solver", "z3", ["z3", "cvc5"], "Who checks a certificate.")
TASK_FILE = cli.task_file_flag()
EXIT_CODES = {"proved": 0, "wrong": 1, "not proved": 3}


def main(arguments):
    cli.no_arguments(arguments)
    if [PROGRAM.value, CHECK.value, NETWORK.value].count(None) != 2:
        cli.fail("give one of --program, --check and --network")
    if PROGRAM.value is None and CERTIFICATE.value is not None:
        cli.fail("--certificate goes with --program")
    out = cli.output_file("certificate", CERTIFICATE.value) if CERTIFICATE.value else None
    cli.load_task_file(TASK_FILE.value)
    raise SystemExit(EXIT_CODES[_answer(out)])


def _answer(out: Path | None) -> str:
    if CHECK.value:
        return _check()
    return _prove_network() if NETWORK.value else _prove(out)


def _prove(out: Path | None) -> str:
    from main_jax.files import write_atomically
    from main_jax.programs.certificate import certificate_to_json
    from main_jax.programs.program import load
    from main_jax.programs.verdict import judge

    verdict = judge(load(Path(PROGRAM.value)))
    _print_verdict(verdict)
    if out and verdict.certificate:
        write_atomically(out, certificate_to_json(verdict.certificate).encode())
    return verdict.answer


def _prove_network() -> str:
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs.network_verdict import judge_network
    from main_jax.programs.printer import program_text

    controller = load_controller(NETWORK.value)
    verdict = judge_network(controller.agent, controller.params)
    answer = "proved" if verdict.proved else "not proved"
    print(f"{answer}\n{verdict}")
    if verdict.program:
        print(program_text(verdict.program))
    return answer


def _print_verdict(verdict) -> None:
    from main_jax.programs.printer import specification_text

    print(verdict.answer)
    print(f"specification: {specification_text(verdict.specification)}")
    for line in verdict.lines():
        print(line)


def _check() -> str:
    from main_jax.programs.certificate import load_certificate, problems

    found = list(problems(load_certificate(Path(CHECK.value)), SOLVER.value))
    print("not proved" if found else "proved")
    for problem in found:
        print(problem)
    return "not proved" if found else "proved"


if __name__ == "__main__":
    cli.run(main)
