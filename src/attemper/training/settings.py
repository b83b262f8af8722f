"""What a training run is asked for: a TOML file with four tables, each entry of which has a name and a bound.

Everything is frozen, and unknown entries are errors. `digest_of` names settings: runs with one digest are the
same run.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from attemper.errors import OptionError
from attemper.languages.sources.brackets import LONGEST
from attemper.languages.sources.values import source_named

PositiveInteger = Annotated[int, Field(ge=1, le=10**9)]
Few = Annotated[int, Field(ge=1, le=10_000)]
"""Of what a model is built: more of these would not fit in any memory."""

PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""PyTorch's generator reads 32 bits of a seed."""

LARGEST_DENOMINATOR = 10**6
"""A probability is of few digits, so that floats know it from 0 and 1."""

LONGEST_FRACTION = 40


def _encodable(text: str) -> str:
    """The text. Raises `UnicodeEncodeError` for the bytes that a terminal sends, and that are no text."""
    text.encode()
    return text


EncodableText = Annotated[str, AfterValidator(_encodable)]


class _Table(BaseModel):
    """A table of the file: frozen, and what is not named here is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SourceTask(_Table):
    """Say what comes next in words of a source: `parity-even`, `parity-odd` or `dyck2` (docs/sources.md)."""

    kind: Literal["source"] = "source"
    name: EncodableText
    """The source's name, which says the polarity."""
    p: EncodableText
    """Its probability, as a fraction such as "1/2"."""
    targets: Literal["law", "symbols"] = "law"
    """What is learned from: the exact probabilities of what comes next, or a symbol drawn from them."""

    @model_validator(mode="after")
    def _is_a_source(self) -> SourceTask:
        try:
            source_named(self.name, _fraction(self.p))
        except OptionError as error:
            raise ValueError(str(error)) from None
        return self


class _LanguageTask(_Table):
    """A language, and how many of its words are drawn."""

    language: EncodableText
    """`zoo:NAME`, `regex:TEXT`, `formula:TEXT`, `dfa:FILE`, `program:FILE`, `net:DIR` or a bare formula."""
    alphabet: EncodableText | None = None
    """Of a formula or an expression; else that of the text. Symbols of the zoo are replaced by these."""
    at: Literal["first", "last"] | None = None
    """Where a formula, or a program's steps, are read; else last."""
    empty: Literal["accept", "reject"] | None = None
    """What a formula, or a program's steps, say of the empty word; else that it is rejected."""
    words: PositiveInteger = 10_000
    """How many words the training set has: it is drawn once, by `seeds.data`."""


class RecognitionTask(_LanguageTask):
    """Say whether a word is in a language."""

    kind: Literal["recognition"]
    data: EncodableText = ""
    """A folder of `attemper data`, whose first split is the training set in place of drawn words."""


class NextTask(_LanguageTask):
    """Say after each prefix of a regular language's words what may come next, and whether it is a word."""

    kind: Literal["next"]


class ModelSettings(_Table):
    """A model, small enough to be trained on one core."""

    kind: Literal["transformer", "lstm", "parity-rnn", "convolution", "table"] = "transformer"
    width: Few = 32
    layers: Few = 2
    heads: Few = 2
    hidden: Few = 64
    """transformer: units of each feed-forward layer."""
    positions: Literal["none", "sinusoidal", "learned"] = "none"
    longest: PositiveInteger = 512
    """transformer: how many learned positions there are; longer words are refused."""
    norm: Literal["post", "pre", "none"] = "post"
    temperature: Literal["none", "log-n"] = "none"
    """transformer: log-n multiplies every score by ln of how many positions a query sees."""
    causal: bool = True
    """transformer: future-masked; a task that reads every prefix needs this."""
    window: Few = 3
    """convolution, table: how many symbols are seen at a time."""

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> ModelSettings:
        if self.kind == "transformer" and self.width % self.heads:
            raise ValueError(f"width = {self.width} is no multiple of heads = {self.heads}")
        return self


class TrainingSettings(_Table):
    """How it is trained: a number of steps, never of seconds, so that a run can be repeated."""

    steps: Annotated[int, Field(ge=0, le=10**9)] = 1000
    batch: PositiveInteger = 128
    length: PositiveInteger = 32
    """Symbols of each prefix of a source; the greatest length of a word of a language."""
    shortest: Annotated[int, Field(ge=0)] = 0
    """recognition, next: the least length of a word."""
    rate: PositiveNumber = 3e-3
    """Of Adam; it rises over `warmup` steps and falls in a line to 0."""
    warmup: Annotated[int, Field(ge=0)] = 100
    clip: PositiveNumber = 1.0
    """The greatest norm of a step's gradient."""
    log_every: PositiveInteger = 50
    save_every: PositiveInteger = 200


class EvaluationSettings(_Table):
    """On what it is measured when it is trained."""

    lengths: Annotated[tuple[PositiveInteger, ...], Field(min_length=1)] = (8, 16, 32, 64, 128)
    words: PositiveInteger = 256

    @field_validator("lengths", mode="before")
    @classmethod
    def _from_a_list(cls, lengths: object) -> object:
        return tuple(lengths) if isinstance(lengths, list) else lengths


class Seeds(_Table):
    """Where chance comes from, apart: the words, the first weights, and the order of a set's words."""

    data: Seed = 0
    init: Seed = 0
    order: Seed = 0
    evaluation: Seed = 1


class Settings(_Table):
    """All of a run."""

    task: Annotated[SourceTask | RecognitionTask | NextTask, Field(discriminator="kind")]
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    seeds: Seeds = Seeds()

    @model_validator(mode="after")
    def _fits(self) -> Settings:
        reads_prefixes = self.task.kind != "recognition"
        if reads_prefixes and self.model.kind == "transformer" and not self.model.causal:
            raise ValueError(
                f"model.causal = false, and task.kind = '{self.task.kind}' reads every prefix: set it to true"
            )
        if self.model.kind == "parity-rnn" and not (
            self.task.kind == "source" and self.task.name.startswith("parity")
        ):
            raise ValueError("model.kind = 'parity-rnn' computes parity: give a task with that source")
        if self.model.kind == "parity-rnn" and self.training.steps:
            raise ValueError("model.kind = 'parity-rnn' has nothing to train: set training.steps = 0")
        if self.task.kind != "source" and self.training.shortest > self.training.length:
            raise ValueError("training.shortest is above training.length")
        self._require_reachable_lengths()
        return self

    def _require_reachable_lengths(self) -> None:
        """Raises for a length that would be refused when the model is trained."""
        greatest = max(self.training.length, *self.evaluation.lengths)
        if self.task.kind == "source" and self.task.name == "dyck2" and greatest > LONGEST:
            raise ValueError(f"dyck2 is computed exactly to {LONGEST:,} symbols: choose no longer lengths")
        is_learned = self.model.kind == "transformer" and self.model.positions == "learned"
        # The start, or the end marker, is a position, too.
        if is_learned and greatest + 1 > self.model.longest:
            raise ValueError(
                f"{greatest:,} symbols and a marker are more than the learned positions: "
                f"set model.longest to {greatest + 1:,}"
            )


def _fraction(text: str) -> Fraction:
    try:
        found = Fraction(text) if len(text) <= LONGEST_FRACTION and "e" not in text.lower() else None
    except (ValueError, ZeroDivisionError):
        found = None
    if found is None or found.denominator > LARGEST_DENOMINATOR:
        raise ValueError(
            f"'{text[:LONGEST_FRACTION]}' is no fraction with a denominator to {LARGEST_DENOMINATOR:,}, "
            "such as 1/2"
        )
    return found
