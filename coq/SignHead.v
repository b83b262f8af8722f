(* The construction Sign (ours, FORMAT.md, section 5): on which side of 0 an odd integer T is.

   A head reads (-1)^j, with scores that grow with T and (-1)^j.  From the second position on what it reads is
   at least 1/2 away from 0, on T's side. *)

From Coq Require Import Reals List Lia Lra Psatz.
From Attemper Require Import Model Logic Sums Lead.
Import ListNotations.
Open Scope R_scope.

Lemma exp_1_low : 27 / 10 <= exp 1.
Proof.
  assert (Square : forall x a b, 0 <= a -> a <= exp x -> b <= a * a -> b <= exp (2 * x)).
  { intros x a b H0 H1 H2. replace (2 * x) with (x + x) by ring. rewrite exp_plus.
    eapply Rle_trans; [exact H2|]. apply Rmult_le_compat; assumption. }
  assert (H : 1 + / 128 <= exp (/ 128)) by (left; apply exp_ineq1; lra).
  apply (Square _ _ (10156860 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (10316179 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (10642354 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (11325969 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (12827757 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (16455134 / 10000000)) in H; [|lra|lra].
  apply (Square _ _ (27 / 10)) in H; [|lra|lra].
  replace (2 * _) with 1 in H by lra. exact H.
Qed.

Lemma exp_2_low : 6 <= exp 2.
Proof.
  replace 2 with (1 + 1) by ring. rewrite exp_plus. pose proof exp_1_low.
  assert (27 / 10 * (27 / 10) <= exp 1 * exp 1) by (apply Rmult_le_compat; lra). lra.
Qed.

(* The tangent at 2, or a little below it. *)
Lemma exp_tangent y : 6 * (y - 1) <= exp y.
Proof.
  pose proof (exp_pos y). destruct (Rle_dec y 1); [lra|].
  replace y with (2 + (y - 2)) at 2 by ring. rewrite exp_plus.
  assert (1 + (y - 2) <= exp (y - 2)).
  { destruct (Req_dec (y - 2) 0) as [->|]; [rewrite exp_0; lra|left; apply exp_ineq1; assumption]. }
  pose proof exp_2_low. apply Rmult_le_compat; lra.
Qed.

Section SignHead.
  Variables (i : nat) (d : R) (s : nat -> R).
  Hypothesis Hi : (2 <= i)%nat.
  Hypothesis Hd : d = 1 \/ d = -1.

  Definition on (j : nat) : R := (1 + d * alternating j) / 2.
  Definition right_side := total (fun j => exp (s j) * on j) (seq 1 i).
  Definition wrong_side := total (fun j => exp (s j) * (1 - on j)) (seq 1 i).

  Lemma on_cases j : (on j = 1 /\ alternating j = d) \/ (on j = 0 /\ alternating j = - d).
  Proof.
    unfold on. destruct Hd as [-> | ->], (alternating_cases j) as [-> | ->];
      [left|right|right|left]; split; lra.
  Qed.

  Lemma sides_decide : 3 * wrong_side <= right_side ->
    1 / 2 <= d * softmax s alternating (seq 1 i) <= 1.
  Proof.
    intros H.
    assert (HW : 0 <= wrong_side).
    { apply total_nonneg. intros j _. pose proof (exp_pos (s j)).
      destruct (on_cases j) as [[-> _]|[-> _]]; lra. }
    assert (ED : total (fun j => exp (s j)) (seq 1 i) = right_side + wrong_side).
    { unfold right_side, wrong_side. rewrite <- total_plus. apply total_ext. intros. ring. }
    assert (EN : total (fun j => exp (s j) * alternating j) (seq 1 i) = d * (right_side - wrong_side)).
    { unfold right_side, wrong_side.
      replace (total (fun j => exp (s j) * on j) (seq 1 i) - total (fun j => exp (s j) * (1 - on j)) (seq 1 i))
        with (total (fun j => exp (s j) * on j + -1 * (exp (s j) * (1 - on j))) (seq 1 i))
        by (rewrite total_plus, total_scale; ring).
      rewrite <- total_scale. apply total_ext. intros j _. unfold on. destruct Hd as [-> | ->]; field. }
    assert (Pos : 0 < right_side + wrong_side).
    { rewrite <- ED. apply Rlt_le_trans with (exp (s 1%nat)); [apply exp_pos|].
      apply (total_has (fun j => exp (s j))); [intros; left; apply exp_pos|apply in_seq; lia]. }
    unfold softmax. destruct (seq 1 i) as [|a l] eqn:E; [destruct i; [lia|discriminate]|].
    rewrite <- E in *. clear E. rewrite EN, ED.
    replace (d * (d * (right_side - wrong_side) / (right_side + wrong_side)))
      with ((right_side - wrong_side) / (right_side + wrong_side)).
    2:{ destruct Hd as [-> | ->]; field; lra. }
    assert (Back : (right_side - wrong_side) / (right_side + wrong_side) * (right_side + wrong_side)
                   = right_side - wrong_side) by (field; lra).
    split; apply Rmult_le_reg_r with (right_side + wrong_side); try assumption; rewrite Back; lra.
  Qed.
End SignHead.

(* Scores 4 (T / i) j (-1)^j, as they are without a temperature. *)
Theorem sign_reads (i : nat) (T d : R) (s : nat -> R) : (2 <= i)%nat -> d = 1 \/ d = -1 -> 1 <= d * T ->
  (forall j, (1 <= j <= i)%nat -> s j = T / INR i * (4 * (INR j * alternating j))) ->
  1 / 2 <= d * softmax s alternating (seq 1 i) <= 1.
Proof.
  intros Hi Hd HT Hs. apply sides_decide; [assumption|assumption|].
  assert (Hn : 2 <= INR i) by (apply (le_INR 2); assumption).
  cut (0 <= right_side i d s + -3 * wrong_side i d s); [lra|].
  apply Rle_trans with
    (total (fun j => 6 * (4 * INR j / INR i - 1) * on d j + -3 * (1 - on d j)) (seq 1 i)).
  - rewrite (total_ext _ (fun j => 12 / INR i * INR j + 12 * d / INR i * (INR j * alternating j)
                                   + (- (9 / 2) * 1 + - (3 / 2) * d * alternating j)))
      by (intros; unfold on; field; lra).
    rewrite !total_plus, !total_scale, total_ones, total_positions, total_alternating,
      total_alternating_positions.
    apply Rmult_le_reg_r with (INR i); [lra|]. rewrite Rmult_0_l.
    match goal with |- 0 <= ?e => replace e with
      (6 * INR i * (INR i + 1) + 3 * d * (alternating i * (2 * INR i + 1) - 1)
       - 9 / 2 * INR i * INR i - 3 / 4 * d * (alternating i - 1) * INR i) by (field; lra) end.
    destruct Hd as [-> | ->], (alternating_cases i) as [-> | ->]; nra.
  - unfold right_side, wrong_side. rewrite <- total_scale, <- total_plus. apply total_le.
    intros j Hj. apply in_seq in Hj. assert (1 <= INR j) by (apply (le_INR 1); lia).
    assert (H0 : 0 <= 4 * INR j / INR i).
    { apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]. }
    assert (X : 4 * INR j / INR i <= d * T * (4 * INR j / INR i)) by nra.
    destruct (on_cases d Hd j) as [[-> E]|[-> E]].
    + assert (Es : s j = d * T * (4 * INR j / INR i)) by (rewrite Hs, E by lia; field; lra).
      pose proof (exp_tangent (s j)). rewrite Es in *. lra.
    + assert (Es : s j = - (d * T * (4 * INR j / INR i))) by (rewrite Hs, E by lia; field; lra).
      assert (exp (s j) <= 1) by (rewrite <- exp_0; apply exp_le; lra). lra.
Qed.

(* Scores 4 X (T / i) (-1)^j with X >= i, as they are with a temperature. *)
Theorem sign_reads_cold (i : nat) (T d X : R) (s : nat -> R) :
  (2 <= i)%nat -> d = 1 \/ d = -1 -> 1 <= d * T -> INR i <= X ->
  (forall j, (1 <= j <= i)%nat -> s j = T / INR i * (4 * (X * alternating j))) ->
  1 / 2 <= d * softmax s alternating (seq 1 i) <= 1.
Proof.
  intros Hi Hd HT HX Hs. apply sides_decide; [assumption|assumption|].
  assert (Hn : 2 <= INR i) by (apply (le_INR 2); assumption).
  assert (HL : 4 <= d * T * (4 * (X / INR i))).
  { assert (1 <= X / INR i).
    { apply Rmult_le_reg_r with (INR i); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    nra. }
  assert (E2 : 6 <= exp (d * T * (4 * (X / INR i)))).
  { apply Rle_trans with (exp 2); [apply exp_2_low|apply exp_le; lra]. }
  cut (0 <= right_side i d s + -3 * wrong_side i d s); [lra|].
  apply Rle_trans with (total (fun j => 6 * on d j + -3 * (1 - on d j)) (seq 1 i)).
  - rewrite (total_ext _ (fun j => 3 / 2 * 1 + 9 / 2 * d * alternating j)) by (intros; unfold on; field).
    rewrite total_plus, !total_scale, total_ones, total_alternating.
    assert (Odd : alternating i = -1 -> 3 <= INR i).
    { intros E. destruct (Nat.eq_dec i 2) as [->|]; [unfold alternating in E; cbn in E; lra|].
      replace 3 with (INR 3) by (cbn; lra). apply le_INR. lia. }
    destruct Hd as [-> | ->], (alternating_cases i) as [E | E]; rewrite E; try specialize (Odd E); lra.
  - unfold right_side, wrong_side. rewrite <- total_scale, <- total_plus. apply total_le.
    intros j Hj. apply in_seq in Hj. destruct (on_cases d Hd j) as [[-> E]|[-> E]].
    + assert (Es : s j = d * T * (4 * (X / INR i))) by (rewrite Hs, E by lia; field; lra).
      rewrite <- Es in E2. lra.
    + assert (Es : s j = - (d * T * (4 * (X / INR i)))) by (rewrite Hs, E by lia; field; lra).
      assert (exp (s j) <= 1) by (rewrite <- exp_0; apply exp_le; lra). lra.
Qed.
