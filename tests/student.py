"""What somebody does in a first hour, from the pages alone, without a word from `mypy --strict`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import attemper

model = attemper.compile("H (a -> Y b)", regime="decoder")
for run in model.run(["", "ba", "ab"]):
    print(run, run.accepted, run.margin)

module = model.dense()
print(module.cfg.n_layers, module.blocks[0].attn.W_O.shape, len(module.blocks))
module.blocks[0].mlp.b_in[0] += 1
broken = attemper.check(module, model)
print(broken.status, broken.witness)

with TemporaryDirectory() as folder:
    model.save(folder, certificate=model.certify())
    print(attemper.check(folder))
    print(attemper.load(Path(folder)).accepts("bab"))
    print(attemper.language(f"net:{folder}").automaton().accepts(("b", "a")))

pairs = attemper.regex("(ab|ba)*")
print(attemper.classify(pairs), attemper.depth(pairs), attemper.to_formula(pairs), sep="\n")
print(attemper.same(attemper.decompile(model).language, "regex:(b|ba)*"))
print(attemper.verify(model, up_to=6, count=20, longest=30))

found = attemper.refute(model, "zoo:parity-even", length=20, free=0.8)
print(found.status, found.words)

entry = attemper.zoo["majority"]
print(entry.definition, attemper.compile("zoo:majority").accepts("0110"))
print(list(attemper.language("zoo:parity", "ab").words(2)))
print(attemper.data(pairs, lengths=(0, 6), count=4))

try:
    attemper.compile("O (a &", "ab")
except attemper.SourceError as error:
    print(error.line, error.column, error.message)
