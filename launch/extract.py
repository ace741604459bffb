"""Writes the algorithm of a trained controller as a program that can be read and run.

  python launch/extract.py --checkpoint=DIR_OR_FILE --out=program.py

Beside program.py stands program.json, which launch/prove.py takes. See docs/programs.md.
"""

from absl import flags

from main_jax import cli

CHECKPOINT = flags.DEFINE_string("checkpoint", None, "A run's workdir or a controller.msgpack.")
OUT = flags.DEFINE_string("out", None, "The file to write.")
FORMAT = flags.DEFINE_enum(
    "format", "python", ["python", "markdown", "json"], "What is written; python: JSON beside it."
)
TASK_FILE = cli.task_file_flag()
flags.mark_flags_as_required(["checkpoint", "out"])


def main(arguments):
    cli.no_arguments(arguments)
    path = cli.output_file("out", OUT.value)
    from main_jax.files import write_atomically
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs import margins
    from main_jax.programs.extract import compare, extract
    from main_jax.programs.printer import program_markdown, program_text
    from main_jax.programs.program import to_json
    from main_jax.programs.python_file import python_file

    cli.load_task_file(TASK_FILE.value)
    controller = load_controller(CHECKPOINT.value)
    program = extract(controller.agent, controller.params)
    comparison = compare(controller.agent, controller.params, program)
    text = program_text(program)
    files = {
        "json": lambda: {path: to_json(program)},
        "markdown": lambda: {path: program_markdown(program, str(comparison))},
        "python": lambda: {
            path: python_file(program, f"{text}\n\n{comparison}", path.name),
            path.with_suffix(".json"): to_json(program),
        },
    }[FORMAT.value]()
    for file, content in files.items():
        write_atomically(file, content.encode())
    print(text)
    print(f"\n{comparison}")
    found = margins.margins(controller.agent, controller.params)
    print("\n".join(["", margins.TITLE, *map(str, found)]))
    if comparison.disagreements:
        cli.fail("the controller does what this program forbids", code=1)


if __name__ == "__main__":
    cli.run(main)
