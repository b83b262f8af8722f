"""The theorem as it is proved on paper, lemma by lemma: printed beside ours, and proving nothing here."""
