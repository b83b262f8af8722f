(* TRUSTED.  What a formula says, and what it is for a network to compute it: docs/formulas.md, and the
   definition of Yang, Strobl, Chiang and Angluin, section 2, for networks without errors.

   At position i of a word: a symbol holds where it stands; Y looks one position back and is false at the
   first; f S g holds if g held at some j <= i and f since then; #<[f] counts the j <= i where f holds. *)

From Coq Require Import Reals List Bool Arith.
From Attemper Require Import Model.
Open Scope R_scope.

Inductive formula :=
| True_ | First | Symbol (a : nat)
| Not (f : formula) | And (f g : formula) | Or (f g : formula)
| Yesterday (f : formula) | Since (f g : formula)
| AtMost (f g : formula).                    (* #<[f] <= #<[g] *)

Fixpoint since (f g : nat -> bool) (i : nat) : bool :=
  match i with O => false | S j => g i || (f i && since f g j) end.

Definition count (f : nat -> bool) (i : nat) : nat := length (filter f (seq 1 i)).

Fixpoint holds (w : word) (f : formula) (i : nat) : bool :=
  match f with
  | True_ => true
  | First => (i =? 1)%nat
  | Symbol a => (symbol w i =? a)%nat
  | Not f => negb (holds w f i)
  | And f g => holds w f i && holds w g i
  | Or f g => holds w f i || holds w g i
  | Yesterday f => (1 <? i)%nat && holds w f (i - 1)
  | Since f g => since (holds w f) (holds w g) i
  | AtMost f g => (count (holds w f) i <=? count (holds w g) i)%nat
  end.

Definition truth (b : bool) : R := if b then 1 else 0.

(* Over the network's alphabet, at every position of every word. *)
Definition is_over (net : network) (w : word) : Prop := forall a, In a w -> (a < length (embedding net))%nat.

Definition computes (net : network) (f : formula) : Prop :=
  forall (w : word) (i : nat),
    is_over net w -> (1 <= i <= length w)%nat -> put_out net w i = truth (holds w f i).
