(* What a head reads, by the shape of its scores: the constructions Select, Neighbour, Uniform and Sign. *)

From Coq Require Import Reals Qreals QArith Qround Qabs List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums Lead SignHead Cases Rationals Meanings Scores.
Import ListNotations.
Open Scope R_scope.

(* --- rational bounds of what strays --- *)
Fixpoint Qpower_nat (q : Q) (k : nat) : Q :=
  match k with O => 1%Q | S k => Qred (q * Qpower_nat q k) end.
Lemma Qpower_nat_right q k : Q2R (Qpower_nat q k) = Q2R q ^ k.
Proof. induction k; cbn [Qpower_nat]; [apply Q2R_1|]. rewrite Q2R_red, Q2R_mult, IHk. reflexivity. Qed.

Definition whole (g : Q) : nat := Z.to_nat (Qfloor g).
Definition strays (g : Q) : Q := Qred (2 / (Qpower_nat (27 # 10) (whole g) - 1)).

Lemma whole_below g : (1 <= whole g)%nat -> INR (whole g) <= Q2R g.
Proof.
  unfold whole. intros H. rewrite INR_IZR_INZ, Z2Nat.id by lia.
  apply Rle_trans with (Q2R (inject_Z (Qfloor g))); [|apply Qle_Rle, Qfloor_le].
  unfold Q2R, inject_Z. cbn [Qnum Qden]. rewrite Rinv_1, Rmult_1_r. apply Rle_refl.
Qed.

Lemma strays_right g : (1 <= whole g)%nat -> 0 < Q2R g /\ stray (Q2R g) <= Q2R (strays g).
Proof.
  intros H. pose proof (whole_below g H) as B. pose proof (le_INR 1 (whole g) H) as H1. cbn in H1.
  split; [lra|]. unfold strays, stray. set (p := Qpower_nat (27 # 10) (whole g)).
  assert (Ep : Q2R p = (27 / 10) ^ whole g).
  { unfold p. rewrite Qpower_nat_right. reflexivity. }
  assert (L : (27 / 10) ^ whole g <= exp (Q2R g)).
  { apply Rle_trans with (exp 1 ^ whole g); [apply pow_incr; pose proof exp_1_low; lra|].
    rewrite <- exp_times. apply exp_le. lra. }
  assert (P : 27 / 10 <= (27 / 10) ^ whole g).
  { destruct (whole g) as [|k]; [lia|]. cbn [pow]. pose proof (pow_R1_Rle (27 / 10) k ltac:(lra)). lra. }
  assert (NZ : ~ (p - 1 == 0)%Q).
  { intros Z. apply Qeq_eqR in Z. rewrite Q2R_minus, Q2R_1, Q2R_0, Ep in Z. lra. }
  rewrite Q2R_red, Q2R_div by exact NZ. rewrite Q2R_minus, Q2R_1, Q2R_2, Ep. unfold Rdiv.
  apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

(* --- the shape of scores --- *)
Inductive shape :=
| Alike                                      (* all positions weigh the same *)
| Where (P : Q) (long : bool) (f : formula) (G : Q)    (* P i or P n times the truth at j, and G j *)
| Beside (W : Q) (long : bool) (G : Q).      (* -W, or -W n, times (-1)^i (-1)^j, and G j *)

Definition shape_of (l : list term) : option shape :=
  match l with
  | [] => Some Alike
  | [(G, (0, 0, false), Power_of 1 false); (P, (a, b, false), Truth_of f)]%Z
  | [(P, (a, b, false), Truth_of f); (G, (0, 0, false), Power_of 1 false)]%Z =>
      match a, b with
      | 1, 0 => Some (Where P false f G)
      | 0, 1 => Some (Where P true f G)
      | _, _ => None
      end%Z
  | [(G, (0, 0, false), Power_of 1 false); (W, (0, b, true), Power_of 0 true)]%Z
  | [(W, (0, b, true), Power_of 0 true); (G, (0, 0, false), Power_of 1 false)]%Z =>
      match b with
      | 0 => Some (Beside (Qopp W) false G)
      | 1 => Some (Beside (Qopp W) true G)
      | _ => None
      end%Z
  | _ => None
  end.

Definition shape_score (w : word) (k : shape) (i j : nat) : R :=
  match k with
  | Alike => 0
  | Where P long f G =>
      Q2R P * INR (if long : bool then List.length w else i) * truth (holds w f j) + Q2R G * INR j
  | Beside W long G =>
      - (Q2R W * (if long : bool then INR (List.length w) else 1)) * alternating i * alternating j
      + Q2R G * INR j
  end.

Lemma shape_right w l k i j : shape_of l = Some k -> total (term_value w i j) l = shape_score w k i j.
Proof.
  intros H. unfold shape_of in H.
  repeat match type of H with
  | context [match ?x with _ => _ end] => is_var x; destruct x; try discriminate H
  end;
  injection H as <-; rewrite ?total_cons; unfold total; cbn [fold_right term_value shape_score power_at at_j_value];
  rewrite ?powerRZ_O, ?powerRZ_1, ?Q2R_opp; ring.
Qed.
