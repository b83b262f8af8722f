(* TRUSTED.  What a word is, what a network is, and what it computes: FORMAT.md, section 1, in real numbers.

   Positions are 1, ..., n.  Symbols are 0, 1, ..., in the order of the network's alphabet. *)

From Coq Require Import Reals Qreals QArith List ZArith.
Import ListNotations.
Open Scope R_scope.

Definition word := list nat.
Definition symbol (w : word) (i : nat) : nat := nth (i - 1) w 0%nat.

(* Closed forms of the position i and the length n: sums, products and integer powers of rationals, i, n and
   (-1)^i, and tests that are 1 where a i + b n + c = 0, and 0 elsewhere. *)
Inductive form :=
| Number (q : Q) | Position | Length | Alternating
| Plus (f g : form) | Times (f g : form) | Power (f : form) (z : Z)
| IsZero (a b c : Z).

Definition alternating (i : nat) : R := (-1) ^ i.

Fixpoint value (f : form) (i n : nat) : R :=
  match f with
  | Number q => Q2R q
  | Position => INR i
  | Length => INR n
  | Alternating => alternating i
  | Plus f g => value f i n + value g i n
  | Times f g => value f i n * value g i n
  | Power f z => powerRZ (value f i n) z
  | IsZero a b c => if (a * Z.of_nat i + b * Z.of_nat n + c =? 0)%Z then 1 else 0
  end.

(* A linear form on the coordinates of the residual stream: coordinates with factors. *)
Definition linear := list (nat * Q).

(* A head: scores are an inverse temperature times query . key, a row of each for each summand; values are
   linear forms, each with the coordinate to which it is added.  A strict head sees j < i, another one j <= i. *)
Record head := Head {
  strict : bool;
  inverse_temperature : form;
  rows : list (linear * linear);
  values : list (linear * nat) }.

(* A hidden unit adds relu(form + bias) times its output. *)
Record hidden := Hidden { reads : linear; bias : Q; writes : linear }.

Record layer := Layer { heads : list head; units : list hidden }.

Record network := Network {
  embedding : list linear;                   (* a row for each symbol *)
  positions : list (nat * form);             (* what is added to a coordinate *)
  layers : list layer;
  output : nat }.                            (* the coordinate that is put out *)

Definition total {A} (f : A -> R) (l : list A) : R := fold_right (fun a sum => f a + sum) 0 l.
Definition factor (l : linear) (c : nat) : R :=
  total (fun p => if (fst p =? c)%nat then Q2R (snd p) else 0) l.
Definition apply (l : linear) (x : nat -> R) : R := total (fun p => Q2R (snd p) * x (fst p)) l.
Definition relu (x : R) : R := Rmax 0 x.

Definition stream := nat -> nat -> R.        (* of a position and a coordinate *)

Definition visible (is_strict : bool) (i : nat) : list nat := if is_strict then seq 1 (i - 1) else seq 1 i.

Definition score (h : head) (x : stream) (n i j : nat) : R :=
  value (inverse_temperature h) i n * total (fun r => apply (fst r) (x i) * apply (snd r) (x j)) (rows h).

(* The softmax average of v over the positions js; 0 where nothing is seen. *)
Definition softmax (s v : nat -> R) (js : list nat) : R :=
  match js with
  | [] => 0
  | _ => total (fun j => exp (s j) * v j) js / total (fun j => exp (s j)) js
  end.

Definition attended (h : head) (x : stream) (n i c : nat) : R :=
  total (fun v => if (snd v =? c)%nat
                  then softmax (score h x n i) (fun j => apply (fst v) (x j)) (visible (strict h) i)
                  else 0) (values h).

Definition after_heads (l : layer) (n : nat) (x : stream) : stream :=
  fun i c => x i c + total (fun h => attended h x n i c) (heads l).

Definition after_units (l : layer) (x : stream) : stream :=
  fun i c => x i c
    + total (fun u => relu (apply (reads u) (x i) + Q2R (bias u)) * factor (writes u) c) (units l).

Definition start (net : network) (w : word) : stream :=
  fun i c => factor (nth (symbol w i) (embedding net) []) c
    + total (fun p => if (fst p =? c)%nat then value (snd p) i (length w) else 0) (positions net).

Definition run (net : network) (w : word) : stream :=
  fold_left (fun x l => after_units l (after_heads l (length w) x)) (layers net) (start net w).

Definition put_out (net : network) (w : word) (i : nat) : R := run net w i (output net).
