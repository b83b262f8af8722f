"""Which command lives where, and who judges which file: strings alone, so that to ask imports nothing of it.

A new theory adds its commands and its file's format here; a test imports every row. What is read from other
people's files never names a module: only the beginning of a format that stands here picks its judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class FileFormat:
    """A kind of file, or of certificate in a folder, that is no network's own and has a judge."""

    prefix: str
    """How its format begins, before the version."""
    judge: str
    """`module:name` of a `checker.verdict.Judge`."""
    show: str
    """`module:name` of a `workbench.report.files.ShowsFile`."""


@final
@dataclass(frozen=True)
class Command:
    """One command; a test compares its help with what its function says of itself."""

    panel: str
    """Under which heading `attemper --help` lists it."""
    name: str
    home: str
    """`module:name` of its function."""
    help: str
    """The first sentence of its docstring."""


FORMATS = (
    FileFormat(
        "attemper-approximation/",
        "attemper.theories.softening.check.claims:judge",
        "attemper.theories.softening.report:show_softened",
    ),
    FileFormat(
        "attemper-causal/",
        "attemper.theories.causal.check.claims:judge",
        "attemper.theories.causal.report:show_causal",
    ),
    FileFormat(
        "attemper-depth/",
        "attemper.theories.depth.check.claims:judge",
        "attemper.theories.depth.report:show_depth",
    ),
    FileFormat(
        "attemper-judgement/",
        "attemper.theories.judging.check.claims:judge",
        "attemper.theories.judging.report:show_judgement",
    ),
    FileFormat(
        "attemper-limit/",
        "attemper.theories.influence.check.claims:judge",
        "attemper.theories.influence.report.sources:show_bound",
    ),
    FileFormat(
        "attemper-rotation/",
        "attemper.theories.causal.check.turned:judge",
        "attemper.theories.causal.report:show_rotation",
    ),
    FileFormat(
        "attemper-refutation/",
        "attemper.theories.refutation.check.claims:judge",
        "attemper.theories.refutation.report:show_refutation",
    ),
)

DOCUMENTS = {
    "network": "attemper.networks.files:NETWORK",
    "certificate": "attemper.certificates.files:CERTIFIED",
    "approximation": "attemper.theories.softening.certificate:APPROXIMATION",
    "refutation": "attemper.theories.refutation.certificate.files:REFUTATION",
    "bound": "attemper.theories.influence.certificate:LIMIT",
    "depth": "attemper.theories.depth.certificate:DEPTH",
    "causal": "attemper.theories.causal.certificate:CAUSAL",
    "judgement": "attemper.theories.judging.certificate:JUDGEMENT",
    "rotation": "attemper.theories.causal.rotation:ROTATION",
    "stream": "attemper.running.streaming.saved:STREAM",
}
"""`module:name` of the `documents.Document` of each kind of file."""


COMMANDS = (
    Command(
        "Networks",
        "compile",
        "attemper.workbench.cli.compiling:compile_command",
        "Compile a language into a softmax transformer, with a certificate.",
    ),
    Command(
        "Networks",
        "simulate",
        "attemper.workbench.cli.simulating:simulate_command",
        "Make a certified softmax network of somebody's masked hard-attention model, in the same language.",
    ),
    Command(
        "Networks",
        "run",
        "attemper.workbench.cli.running:run_command",
        "Run a compiled transformer on words, or symbol by symbol.",
    ),
    Command(
        "Networks",
        "trace",
        "attemper.workbench.cli.tracing:trace_command",
        "Show the verdict, every subformula at every position, every head's attention, and margins.",
    ),
    Command(
        "Networks",
        "generate",
        "attemper.workbench.cli.generating:generate_command",
        "Let a counter machine's transformer write, token by token, until it halts (docs/machines.md).",
    ),
    Command(
        "Networks",
        "show",
        "attemper.workbench.cli.showing:show_command",
        "Show what a path holds: a network, a program's text, a refutation, a bound, or a depth.",
    ),
    Command(
        "Networks",
        "page",
        "attemper.workbench.cli.paging:page_command",
        "Write one HTML file that runs the network in a browser, on any word (docs/page.md).",
    ),
    Command(
        "Networks",
        "play",
        "attemper.workbench.cli.playing:play_command",
        "Serve a page on this computer in which you type a language, and see its network run (docs/play.md).",
    ),
    Command(
        "Languages",
        "classify",
        "attemper.workbench.cli.classifying:classify_command",
        "Say what class a regular language is in: star-free, quasi-aperiodic, solvable or neither; and why.",
    ),
    Command(
        "Languages",
        "depth",
        "attemper.theories.depth.command:depth_command",
        "Say how many layers of unique hard attention a regular language needs at least and at "
        "most, with proof.",
    ),
    Command(
        "Languages",
        "same",
        "attemper.workbench.cli.same:same_command",
        "Say whether A and B are one language, for words of every length; or show a word that "
        "tells them apart.",
    ),
    Command(
        "Languages",
        "to-formula",
        "attemper.workbench.cli.translating:to_formula_command",
        "Write a regular language as a past formula, read at the last position.",
    ),
    Command(
        "Languages",
        "zoo",
        "attemper.workbench.cli.zoo:zoo_command",
        "List what has a name; or show one, with words.",
    ),
    Command(
        "Proofs",
        "paper",
        "attemper.workbench.cli.paper:paper_command",
        "List the statements of the papers, or show one: what it is here, and a small run that could fail.",
    ),
    Command(
        "Proofs",
        "check",
        "attemper.workbench.cli.checking:check_command",
        "Check a network's certificate, or a refutation, from the raw weights, trusting nothing "
        "that it says.",
    ),
    Command(
        "Proofs",
        "causal",
        "attemper.theories.causal.command:causal_command",
        "Say which coordinates are causal variables of a network's program, for all words; or show "
        "two words.",
    ),
    Command(
        "Proofs",
        "bench",
        "attemper.theories.causal.bench.command:bench_command",
        "Make networks whose causal edges are labelled by proof, for methods that look for circuits.",
    ),
    Command(
        "Proofs",
        "score",
        "attemper.theories.causal.bench.command:score_command",
        "Prove the labels of a benchmark again, and say how well numbers for edges tell them.",
    ),
    Command(
        "Proofs",
        "judge",
        "attemper.theories.judging.command:judge_command",
        "Prove that a trained transformer answers every word of a language right, or show one it gets wrong.",
    ),
    Command(
        "Proofs",
        "decompile",
        "attemper.workbench.cli.decompile:decompile_command",
        "Say which language a network computes, from its weights alone, proved for all lengths.",
    ),
    Command(
        "Proofs",
        "certify",
        "attemper.workbench.cli.certifying:certify_command",
        "Prove what the network computes, find the horizon of every float format, and write "
        "certificate.json.",
    ),
    Command(
        "Proofs",
        "verify",
        "attemper.workbench.cli.verifying:verify_command",
        "Compare soft run, hard run and exact meaning; exit 1 with the word where they differ.",
    ),
    Command(
        "Limits",
        "refute",
        "attemper.theories.refutation.command:refute_command",
        "Find two words that a hard-attention transformer cannot tell apart, though a language "
        "does, with proof.",
    ),
    Command(
        "Limits",
        "influence",
        "attemper.theories.influence.command.influence:influence_command",
        "Measure how much one symbol can change what a model with soft attention puts out at position n.",
    ),
    Command(
        "Limits",
        "bound",
        "attemper.theories.influence.command.bound:bound_command",
        "Bound what one symbol can change in an encoder with soft attention, and what follows, with proof.",
    ),
    Command(
        "Limits",
        "source",
        "attemper.theories.influence.command.source:source_command",
        "Say what a source of words gives out: lengths, levels of cross-entropy, and floors below it.",
    ),
    Command(
        "Limits",
        "soften",
        "attemper.theories.softening.command:soften_command",
        "Make a softmax network of an average-hard one, within epsilon of it, with proof.",
    ),
    Command(
        "Limits",
        "four-ways",
        "attemper.theories.softening.command:four_ways_command",
        "Show how PARITY's gap vanishes at a constant temperature, and four ways out (docs/four-ways.md).",
    ),
    Command(
        "Limits",
        "lemma",
        "attemper.theories.refutation.lemma.command:lemma_command",
        "Say how large Hahn's Depth Reduction Lemma's constants are; or run it on one layer, or on all.",
    ),
    Command(
        "Data",
        "data",
        "attemper.training.data_command:data_command",
        "Draw words with their verdicts, half of them in the language, for training (docs/training.md).",
    ),
    Command(
        "Data",
        "train",
        "attemper.training.command:train_command",
        "Train a small model on a source or on a language, and measure it at several lengths.",
    ),
    Command(
        "Data",
        "study",
        "attemper.training.study.command:study_command",
        "Train small models on PARITY and 2DYCK, and show Hahn's Theorem 6 on what they do "
        "(docs/training.md).",
    ),
    Command(
        "Exchange",
        "export",
        "attemper.workbench.cli.exporting:export_command",
        "Write a network for other people's tools, with the same numbers (docs/exports.md).",
    ),
    Command(
        "Exchange",
        "import",
        "attemper.workbench.cli.exporting:import_command",
        "Restore a network's folder, with the same digest, from what was exported.",
    ),
    Command(
        "Exchange",
        "schema",
        "attemper.workbench.cli.schemas:schema_command",
        "Print the JSON Schema of a kind of file that attemper writes (certificates/FORMAT.md).",
    ),
)
"""In the order of `attemper --help`, panel by panel."""

STATEMENTS = (
    "attemper.workbench.papers.definitions",
    "attemper.workbench.papers.lemmas",
    "attemper.workbench.papers.theorems",
    "attemper.workbench.papers.tasks",
    "attemper.workbench.papers.machines",
    "attemper.theories.depth.statements",
    "attemper.theories.influence.statements",
    "attemper.theories.refutation.lemma.statements",
    "attemper.theories.refutation.statements",
    "attemper.theories.softening.statements",
    "attemper.training.statements",
)
"""The modules whose `STATEMENTS` are rows of `attemper paper`: statements of papers, each with a run."""
