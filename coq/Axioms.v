(* What the theorem rests on, beside Coq's kernel. *)

From Attemper Require Import Checker.

Check check_sound.
Print Assumptions check_sound.
