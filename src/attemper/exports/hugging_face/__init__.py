"""Compiled networks for Hugging Face's transformers: importing this registers them with its Auto classes.

`AutoConfig`, `AutoTokenizer`, `AutoModelForSequenceClassification` and `AutoModelForTokenClassification`, and
so `pipeline`, then load folders that `attemper export DIR hugging-face` wrote; no code comes out of a folder.
Raises `OptionError` where transformers is not installed.
"""

from attemper.exports.extras import library
from attemper.exports.hugging_face.configuration import AttemperConfig
from attemper.exports.hugging_face.modelling import (
    AttemperForSequenceClassification,
    AttemperForTokenClassification,
)
from attemper.exports.hugging_face.tokenizing import AttemperTokenizer

__all__ = [
    "AttemperConfig",
    "AttemperForSequenceClassification",
    "AttemperForTokenClassification",
    "AttemperTokenizer",
]

_auto = library("transformers", "hugging-face")
_auto.AutoConfig.register(AttemperConfig.model_type, AttemperConfig)
_auto.AutoTokenizer.register(AttemperConfig, tokenizer_class=AttemperTokenizer)
_auto.AutoModelForSequenceClassification.register(AttemperConfig, AttemperForSequenceClassification)
_auto.AutoModelForTokenClassification.register(AttemperConfig, AttemperForTokenClassification)
