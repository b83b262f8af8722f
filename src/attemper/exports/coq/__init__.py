"""Networks as theorems that Coq checks: docs/coq.md."""
