(* Hard attention by soft attention where scores fall by the distance: Lemmas 6 and 8 of Yang, Strobl, Chiang
   and Angluin, for all scores, not only for those of a compiled network.

   If position w leads by g times the distance, over every position that is seen, softmax reads nearly its
   value: what it reads is off by at most 2 / (e^g - 1), at every length. *)

From Coq Require Import Reals List Lia Lra Arith.
From Attemper Require Import Model Logic Sums.
Import ListNotations.
Open Scope R_scope.

Definition distance (w j : nat) : nat := (w - j) + (j - w).

Lemma distance_real w j : INR (distance w j) = Rabs (INR w - INR j).
Proof.
  unfold distance. destruct (Nat.le_ge_cases j w) as [H|H]; pose proof (le_INR _ _ H).
  - replace (w - j + (j - w))%nat with (w - j)%nat by lia.
    rewrite minus_INR by exact H. rewrite Rabs_pos_eq; lra.
  - replace (w - j + (j - w))%nat with (j - w)%nat by lia.
    rewrite minus_INR by exact H. rewrite Rabs_minus_sym, Rabs_pos_eq; lra.
Qed.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros [H| ->]; [left; apply exp_increasing; exact H|apply Rle_refl]. Qed.

Lemma exp_times x k : exp (x * INR k) = exp x ^ k.
Proof.
  induction k as [|k IH]; [cbn; rewrite Rmult_0_r, exp_0; reflexivity|].
  rewrite S_INR, Rmult_plus_distr_l, Rmult_1_r, exp_plus, IH. cbn [pow]. ring.
Qed.

(* The sum over all other positions of r to the power of their distance. *)
Lemma others_le r w m : 0 < r < 1 -> (1 <= w <= m)%nat ->
  total (fun j => if (j =? w)%nat then 0 else r ^ distance w j) (seq 1 m) <= 2 * r / (1 - r).
Proof.
  intros Hr Hw. replace m with ((w - 1) + S (m - w))%nat by lia.
  rewrite seq_app, total_app. replace (1 + (w - 1))%nat with w by lia. cbn [seq]. rewrite total_cons.
  rewrite Nat.eqb_refl.
  rewrite (total_ext _ (fun j => r ^ (w - j)) (seq 1 (w - 1))).
  2:{ intros j Hj. apply in_seq in Hj. destruct (Nat.eqb_spec j w); [lia|].
      unfold distance. f_equal. lia. }
  rewrite (total_ext _ (fun j => r ^ (j - w)) (seq (S w) (m - w))).
  2:{ intros j Hj. apply in_seq in Hj. destruct (Nat.eqb_spec j w); [lia|].
      unfold distance. f_equal. lia. }
  rewrite geometric_left, geometric_right by (lra || lia).
  pose proof (pow_lt r w ltac:(lra)). pose proof (pow_lt r (S (m - w)) ltac:(lra)).
  replace ((r - r ^ w) / (1 - r) + (0 + (r - r ^ S (m - w)) / (1 - r)))
    with ((2 * r - r ^ w - r ^ S (m - w)) / (1 - r)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat|]; lra.
Qed.

Definition stray (g : R) : R := 2 / (exp g - 1).

Lemma stray_as_ratio g : 0 < g -> 2 * exp (- g) / (1 - exp (- g)) = stray g.
Proof.
  intros Hg. unfold stray. rewrite exp_Ropp. pose proof (exp_increasing 0 g Hg) as H. rewrite exp_0 in H.
  field. split; [lra|]. intros E. lra.
Qed.

Lemma stray_decreases g h : 0 < g <= h -> stray h <= stray g.
Proof.
  intros [Hg Hh]. unfold stray. pose proof (exp_increasing 0 g Hg) as H. rewrite exp_0 in H.
  apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|]. pose proof (exp_le g h Hh). lra.
Qed.

(* What softmax reads less v, as an average. *)
Lemma softmax_less s v c js : js <> [] ->
  softmax s v js - c = total (fun j => exp (s j) * (v j - c)) js / total (fun j => exp (s j)) js.
Proof.
  intros H. unfold softmax. destruct js as [|a js]; [contradiction|]. set (l := a :: js).
  assert (0 < total (fun j => exp (s j)) l).
  { pose proof (exp_pos (s a)). pose proof (total_has (fun j => exp (s j)) l a
      (fun b _ => Rlt_le _ _ (exp_pos _)) (or_introl eq_refl)). cbv beta in *. lra. }
  rewrite (total_ext (fun j => exp (s j) * (v j - c)) (fun j => exp (s j) * v j + - c * exp (s j)))
    by (intros; ring).
  rewrite total_plus, total_scale. field. lra.
Qed.

Theorem lead_is_read (s v : nat -> R) (g : R) (w m : nat) :
  0 < g -> (1 <= w <= m)%nat ->
  (forall j, (1 <= j <= m)%nat -> Rabs (v j - v w) <= 1) ->
  (forall j, (1 <= j <= m)%nat -> g * INR (distance w j) <= s w - s j) ->
  Rabs (softmax s v (seq 1 m) - v w) <= stray g.
Proof.
  intros Hg Hw Hv Hs.
  assert (Hin : In w (seq 1 m)) by (apply in_seq; lia).
  rewrite softmax_less by (intros E; rewrite E in Hin; exact Hin).
  set (D := total (fun j => exp (s j)) (seq 1 m)).
  assert (HD : exp (s w) <= D).
  { apply (total_has (fun j => exp (s j))); [intros; left; apply exp_pos|exact Hin]. }
  pose proof (exp_pos (s w)) as Hp.
  assert (Hr : 0 < exp (- g) < 1).
  { split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. }
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ D)) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with D; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [apply total_abs|].
  apply Rle_trans with
    (exp (s w) * total (fun j => if (j =? w)%nat then 0 else exp (- g) ^ distance w j) (seq 1 m)).
  - rewrite <- total_scale. apply total_le. intros j Hj. apply in_seq in Hj.
    pose proof (exp_pos (s j)) as Hj0. rewrite Rabs_mult, (Rabs_pos_eq (exp (s j))) by lra.
    destruct (Nat.eqb_spec j w) as [->|Hne].
    + replace (v w - v w) with 0 by ring. rewrite Rabs_R0. lra.
    + assert (Hstep : exp (s j) <= exp (s w) * exp (- g) ^ distance w j).
      { rewrite <- exp_times, <- exp_plus. apply exp_le. specialize (Hs j ltac:(lia)). lra. }
      specialize (Hv j ltac:(lia)). pose proof (Rabs_pos (v j - v w)).
      apply Rle_trans with (exp (s j) * 1); [apply Rmult_le_compat_l; lra|lra].
  - rewrite Rmult_comm, <- (stray_as_ratio g Hg).
    apply Rmult_le_compat; [|lra|apply others_le; [exact Hr|exact Hw]|exact HD].
    apply total_nonneg. intros j _. destruct (j =? w)%nat; [lra|]. left. apply pow_lt. lra.
Qed.

(* The construction Select: the rightmost position where a bit holds is read, and the last one where it holds
   nowhere.  Scores are P X [the bit at j] + G j, with X >= i and P >= 2 G. *)
Fixpoint rightmost (p : nat -> bool) (m : nat) : option nat :=
  match m with O => None | S k => if p (S k) then Some (S k) else rightmost p k end.

Lemma rightmost_some p m w : rightmost p m = Some w ->
  (1 <= w <= m)%nat /\ p w = true /\ (forall j, (w < j <= m)%nat -> p j = false).
Proof.
  induction m as [|m IH]; cbn [rightmost]; [discriminate|]. destruct (p (S m)) eqn:E.
  - intros H. injection H as <-. repeat split; [lia|lia|exact E|lia].
  - intros H. destruct (IH H) as (A & B & C). repeat split; [lia|lia|exact B|].
    intros j Hj. destruct (Nat.eq_dec j (S m)) as [->|]; [exact E|apply C; lia].
Qed.

Lemma rightmost_none p m : rightmost p m = None -> forall j, (1 <= j <= m)%nat -> p j = false.
Proof.
  induction m as [|m IH]; cbn [rightmost]; [intros _ j Hj; lia|]. destruct (p (S m)) eqn:E; [discriminate|].
  intros H j Hj. destruct (Nat.eq_dec j (S m)) as [->|]; [exact E|apply IH; [exact H|lia]].
Qed.

Theorem select_reads (v : nat -> R) (p : nat -> bool) (P G X : R) (i m : nat) (s : nat -> R) :
  0 < G -> 2 * G <= P -> INR i <= X -> (1 <= m <= i)%nat ->
  (forall j k, (1 <= j <= m)%nat -> (1 <= k <= m)%nat -> Rabs (v j - v k) <= 1) ->
  (forall j k, (1 <= j <= m)%nat -> (1 <= k <= m)%nat ->
     s j - s k = P * X * (truth (p j) - truth (p k)) + G * (INR j - INR k)) ->
  Rabs (softmax s v (seq 1 m) - v (match rightmost p m with Some w => w | None => m end)) <= stray G.
Proof.
  intros HG HP HX Hm Hv Hs.
  assert (Hi : forall j, (1 <= j <= m)%nat -> INR j <= X).
  { intros j Hj. pose proof (le_INR j i ltac:(lia)). lra. }
  assert (H0 : forall j, 0 <= INR j) by (intros; apply pos_INR).
  destruct (rightmost p m) as [w|] eqn:E.
  - apply rightmost_some in E. destruct E as (Hw & Pw & Pr). apply lead_is_read; try assumption.
    + intros j Hj. apply Hv; assumption.
    + intros j Hj. rewrite (Hs w j Hw Hj), Pw, distance_real. cbn [truth].
      pose proof (Hi j Hj). pose proof (Hi w Hw). pose proof (H0 j). pose proof (H0 w).
      destruct (p j) eqn:Ej; cbn [truth].
      * assert (j <= w)%nat by (destruct (Nat.le_gt_cases j w); [assumption|rewrite Pr in Ej by lia; discriminate]).
        pose proof (le_INR j w ltac:(lia)). rewrite Rabs_pos_eq by lra. nra.
      * apply Rle_trans with (G * (INR w + INR j)).
        { apply Rmult_le_compat_l; [lra|]. apply Rabs_le. lra. }
        assert (2 * G * X <= P * X) by (apply Rmult_le_compat_r; lra). nra.
  - pose proof (rightmost_none p m E) as Pn. apply lead_is_read; try assumption; [lia| |].
    + intros j Hj. apply Hv; [assumption|lia].
    + intros j Hj. rewrite (Hs m j ltac:(lia) Hj), (Pn m ltac:(lia)), (Pn j Hj), distance_real.
      pose proof (le_INR j m ltac:(lia)). rewrite Rabs_pos_eq by lra. cbn [truth]. lra.
Qed.

(* The construction Neighbour: scores -W (-1)^i (-1)^j + G j, with 2 W >= G' + G, read the position before. *)
Theorem neighbour_reads (v : nat -> R) (W G g : R) (i : nat) (s : nat -> R) :
  0 < g -> g <= G -> g + G <= 2 * W -> (2 <= i)%nat ->
  (forall j k, (1 <= j <= i)%nat -> (1 <= k <= i)%nat -> Rabs (v j - v k) <= 1) ->
  (forall j k, (1 <= j <= i)%nat -> (1 <= k <= i)%nat ->
     s j - s k = - W * alternating i * (alternating j - alternating k) + G * (INR j - INR k)) ->
  Rabs (softmax s v (seq 1 i) - v (i - 1)%nat) <= stray g.
Proof.
  intros Hg HG HW Hi Hv Hs. apply lead_is_read; [assumption|lia| |].
  - intros j Hj. apply Hv; [assumption|lia].
  - intros j Hj. rewrite (Hs (i - 1)%nat j ltac:(lia) Hj), distance_real.
    destruct i as [|k]; [lia|]. replace (S k - 1)%nat with k by lia.
    pose proof (alternating_S k) as Ak.
    assert (Hk : alternating k * alternating k = 1) by (destruct (alternating_cases k) as [-> | ->]; ring).
    destruct (Nat.eq_dec j (S k)) as [->|Hne].
    + rewrite Ak. replace (- W * - alternating k * (alternating k - - alternating k))
        with (2 * W * (alternating k * alternating k)) by ring.
      rewrite Hk, S_INR. rewrite Rabs_left by lra. lra.
    + pose proof (le_INR j k ltac:(lia)). rewrite Rabs_pos_eq by lra. rewrite Ak.
      assert (HWp : 0 < W) by lra.
      replace (- W * - alternating k * (alternating k - alternating j))
        with (W * (alternating k * alternating k - alternating k * alternating j)) by ring.
      rewrite Hk. assert (alternating k * alternating j <= 1).
      { destruct (alternating_cases k) as [-> | ->], (alternating_cases j) as [-> | ->]; lra. }
      assert (0 <= W * (1 - alternating k * alternating j)) by (apply Rmult_le_pos; lra).
      assert (g * (INR k - INR j) <= G * (INR k - INR j)) by (apply Rmult_le_compat_r; lra). lra.
Qed.
