(* Finite sums of real numbers. *)

From Coq Require Import Reals List Lia Lra Arith.
From Attemper Require Import Model.
Import ListNotations.
Open Scope R_scope.

Lemma total_cons {A} (f : A -> R) a l : total f (a :: l) = f a + total f l.
Proof. reflexivity. Qed.

Lemma total_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> total f l <= total g l.
Proof.
  induction l as [|a l IH]; intros H; [apply Rle_refl|]. rewrite !total_cons.
  apply Rplus_le_compat; [apply H; left; reflexivity|apply IH; intros; apply H; right; assumption].
Qed.

Lemma total_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof. intros H. apply Rle_antisym; apply total_le; intros a Ha; rewrite (H a Ha); apply Rle_refl. Qed.

Lemma total_app {A} (f : A -> R) l m : total f (l ++ m) = total f l + total f m.
Proof. induction l as [|a l IH]; cbn [app]; [unfold total at 2; cbn; lra|]. rewrite !total_cons, IH. lra. Qed.

Lemma total_scale {A} (f : A -> R) k l : total (fun a => k * f a) l = k * total f l.
Proof. induction l as [|a l IH]; [unfold total; cbn; lra|]. rewrite !total_cons, IH. lra. Qed.

Lemma total_plus {A} (f g : A -> R) l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l as [|a l IH]; [unfold total; cbn; lra|]. rewrite !total_cons, IH. lra. Qed.

Lemma total_zero {A} (f : A -> R) l : (forall a, In a l -> f a = 0) -> total f l = 0.
Proof.
  intros H. rewrite (total_ext f (fun a => 0 * f a)); [rewrite total_scale; lra|].
  intros a Ha. rewrite (H a Ha). lra.
Qed.

Lemma total_nonneg {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> 0 <= total f l.
Proof.
  intros H. rewrite <- (total_zero (fun _ : A => 0) l) by reflexivity. apply total_le. exact H.
Qed.

Lemma total_abs {A} (f : A -> R) l : Rabs (total f l) <= total (fun a => Rabs (f a)) l.
Proof.
  induction l as [|a l IH]; [unfold total; cbn; rewrite Rabs_R0; lra|]. rewrite !total_cons.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma total_has {A} (f : A -> R) l a : (forall b, In b l -> 0 <= f b) -> In a l -> f a <= total f l.
Proof.
  induction l as [|b l IH]; intros H [].
  - subst b. rewrite total_cons. pose proof (total_nonneg f l (fun b Hb => H b (or_intror Hb))). lra.
  - rewrite total_cons. pose proof (IH (fun c Hc => H c (or_intror Hc)) H0).
    pose proof (H b (or_introl eq_refl)). lra.
Qed.

(* Sums over the positions 1, ..., m. *)
Lemma total_last f m : total f (seq 1 (S m)) = total f (seq 1 m) + f (S m).
Proof. rewrite seq_S, total_app. unfold total at 2. cbn. lra. Qed.

Lemma total_ones m : total (fun _ => 1) (seq 1 m) = INR m.
Proof. induction m as [|m IH]; [reflexivity|]. rewrite total_last, IH, S_INR. reflexivity. Qed.

Lemma total_positions m : total INR (seq 1 m) = INR m * (INR m + 1) / 2.
Proof. induction m as [|m IH]; [unfold total; cbn; lra|]. rewrite total_last, IH, S_INR. field. Qed.

Lemma alternating_S m : alternating (S m) = - alternating m.
Proof. unfold alternating. cbn [pow]. ring. Qed.

Lemma alternating_cases m : alternating m = 1 \/ alternating m = -1.
Proof.
  induction m as [|m [E|E]]; [left; reflexivity|right|left]; rewrite alternating_S, E; ring.
Qed.

Lemma total_alternating m : total alternating (seq 1 m) = (alternating m - 1) / 2.
Proof.
  induction m as [|m IH]; [unfold total, alternating; cbn; lra|]. rewrite total_last, IH, alternating_S. field.
Qed.

Lemma total_alternating_positions m :
  total (fun j => INR j * alternating j) (seq 1 m) = (alternating m * (2 * INR m + 1) - 1) / 4.
Proof.
  induction m as [|m IH]; [unfold total, alternating; cbn; lra|].
  rewrite total_last, IH, alternating_S, S_INR. field.
Qed.

(* Geometric sums, to the left and to the right of a position. *)
Lemma geometric_left r w :
  r <> 1 -> (1 <= w)%nat -> total (fun j => r ^ (w - j)) (seq 1 (w - 1)) = (r - r ^ w) / (1 - r).
Proof.
  intros Hr Hw. destruct w as [|w]; [lia|]. replace (S w - 1)%nat with w by lia. clear Hw. induction w as [|w IH]; [unfold total; cbn; field; lra|].
  rewrite total_last.
  rewrite (total_ext _ (fun j => r * r ^ (S w - j))).
  2:{ intros j Hj. apply in_seq in Hj. replace (S (S w) - j)%nat with (S (S w - j)) by lia. reflexivity. }
  rewrite total_scale, IH. replace (S (S w) - S w)%nat with 1%nat by lia. cbn [pow]. field. lra.
Qed.

Lemma geometric_right r w k :
  r <> 1 -> total (fun j => r ^ (j - w)) (seq (S w) k) = (r - r ^ S k) / (1 - r).
Proof.
  intros Hr. induction k as [|k IH]; [unfold total; cbn; field; lra|].
  rewrite seq_S, total_app, IH. unfold total at 1. cbn [fold_right].
  replace (S w + k - w)%nat with (S k) by lia. cbn [pow]. field. lra.
Qed.
