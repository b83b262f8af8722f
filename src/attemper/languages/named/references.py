"""The papers in which the languages of the zoo are defined, compiled or learned."""

from __future__ import annotations

from attemper.languages.named.entry import Reference

ARORA_2023 = Reference(
    "Arora et al.", 2023, "Zoology: Measuring and Improving Recall in Efficient Language Models"
)
BHATTAMISHRA_2020 = Reference(
    "Bhattamishra, Ahuja, Goyal",
    2020,
    "On the Ability and Limitations of Transformers to Recognize Formal Languages",
)
CHIANG_CHOLAK_2022 = Reference(
    "Chiang, Cholak", 2022, "Overcoming a Theoretical Limitation of Self-Attention"
)
DELETANG_2023 = Reference("Deletang et al.", 2023, "Neural Networks and the Chomsky Hierarchy")
HAHN_2020 = Reference("Hahn", 2020, "Theoretical Limitations of Self-Attention in Neural Sequence Models")
HEWITT_2020 = Reference(
    "Hewitt et al.", 2020, "RNNs Can Generate Bounded Hierarchical Languages with Optimal Memory"
)
LINDNER_2023 = Reference(
    "Lindner et al.", 2023, "Tracr: Compiled Transformers as a Laboratory for Interpretability"
)
LIU_FLIP_FLOP_2023 = Reference(
    "Liu et al.", 2023, "Exposing Attention Glitches with Flip-Flop Language Modeling"
)
OLSSON_2022 = Reference("Olsson et al.", 2022, "In-context Learning and Induction Heads")
SANFORD_2024 = Reference(
    "Sanford, Hsu, Telgarsky", 2024, "Transformers, Parallel Computation, and Logarithmic Depth"
)
STROBL_2024 = Reference("Strobl et al.", 2024, "What Formal Languages Can Transformers Express? A Survey")
SVETE_COTTERELL_2024 = Reference(
    "Svete, Cotterell", 2024, "Transformers Can Represent n-gram Language Models"
)
TOMITA_1982 = Reference(
    "Tomita", 1982, "Dynamic Construction of Finite-State Automata from Examples Using Hill-Climbing"
)
WEISS_2021 = Reference("Weiss, Goldberg, Yahav", 2021, "Thinking Like Transformers")
YANG_CHIANG_2024 = Reference(
    "Yang, Chiang",
    2024,
    "Counting Like Transformers: Compiling Temporal Counting Logic Into Softmax Transformers",
)
YANG_2024 = Reference(
    "Yang, Chiang, Angluin",
    2024,
    "Masked Hard-Attention Transformers Recognize Exactly the Star-Free Languages",
)
YANG_STROBL_2024 = Reference(
    "Yang, Strobl, Chiang, Angluin", 2024, "Simulating Hard Attention Using Soft Attention"
)
YAO_2021 = Reference("Yao et al.", 2021, "Self-Attention Networks Can Process Bounded Hierarchical Languages")
