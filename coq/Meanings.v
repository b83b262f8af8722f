(* What coordinates hold, and what linear forms of them are in a case. *)

From Coq Require Import Reals Qreals QArith Qabs List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums Cases Rationals.
Import ListNotations.
Open Scope R_scope.

Arguments Qred : simpl never.
Arguments Qmult : simpl never.
Arguments Qplus : simpl never.
Arguments Qopp : simpl never.
Arguments Qabs : simpl never.
Arguments Q2R : simpl never.

Inductive meaning :=
| Unknown
| Zero
| Place (p : form)                           (* a closed form *)
| Bit (f : formula) (e : Q)                  (* within e of the truth of f *)
| Mean (k : list (Q * formula))              (* the average over j <= i of a sum of truths, exactly *)
| Sign (f : formula).                        (* at i = 1 it is -1; then from 1/2 to 1 if f holds, else opposite *)

Definition sum_of (w : word) (k : list (Q * formula)) (i : nat) : R :=
  total (fun t => Q2R (fst t) * truth (holds w (snd t) i)) k.

Definition means (w : word) (i : nat) (x : R) (m : meaning) : Prop :=
  match m with
  | Unknown => True
  | Zero => x = 0
  | Place p => x = value p i (length w)
  | Bit f e => Rabs (x - truth (holds w f i)) <= Q2R e
  | Mean k => x = total (sum_of w k) (seq 1 i) / INR i
  | Sign f => if (i =? 1)%nat then x = -1 else 1 / 2 <= (if holds w f i then x else - x) <= 1
  end.

Definition meant (w : word) (x : stream) (A : list meaning) : Prop :=
  forall i c, (1 <= i <= length w)%nat -> means w i (x i c) (nth c A Unknown).

Lemma exact_bit w i x f e : Qeq_bool e 0 = true -> means w i x (Bit f e) -> x = truth (holds w f i).
Proof.
  intros He H. cbn in H. rewrite (Q2R_equal _ _ He), Q2R_0 in H. apply Rabs_bounds in H. lra.
Qed.

Lemma bit_exact w i x f e : Qeq_bool e 0 = true -> x = truth (holds w f i) -> means w i x (Bit f e).
Proof.
  intros He ->. cbn. rewrite (Q2R_equal _ _ He), Q2R_0. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra.
Qed.

(* --- in a case: a number, and what it can be off by --- *)
Fixpoint summed (a : nat) (r : facts) (k : list (Q * formula)) : option Q :=
  match k with
  | [] => Some 0%Q
  | (q, f) :: k =>
      match decided a r f, summed a r k with
      | Some b, Some s => Some (if b then Qred (q + s) else s)
      | _, _ => None
      end
  end.
Fixpoint lowest (k : list (Q * formula)) : Q :=
  match k with [] => 0%Q | (q, _) :: k => if Qle_bool q 0 then Qred (q + lowest k) else lowest k end.
Fixpoint highest (k : list (Q * formula)) : Q :=
  match k with [] => 0%Q | (q, _) :: k => if Qle_bool q 0 then highest k else Qred (q + highest k) end.

Definition seen (a : nat) (r : facts) (m : meaning) : option (Q * Q) :=
  match m with
  | Zero => Some (0%Q, 0%Q)
  | Place (Number q) => Some (q, 0%Q)
  | Bit f e => match decided a r f with Some b => Some (if b then 1%Q else 0%Q, e) | None => None end
  | Mean k =>
      match known First r with
      | Some true => match summed a r k with Some s => Some (s, 0%Q) | None => None end
      | _ => Some (Qred ((lowest k + highest k) * (1 # 2)), Qred ((highest k - lowest k) * (1 # 2)))
      end
  | Sign f =>
      match known First r, decided a r f with
      | Some true, _ => Some (-1 # 1, 0%Q)
      | Some false, Some b => Some (if b then 3 # 4 else -3 # 4, 1 # 4)
      | _, _ => None
      end
  | _ => None
  end.

Lemma summed_right w i r k s : true_at w i r -> summed (symbol w i) r k = Some s -> sum_of w k i = Q2R s.
Proof.
  intros T. revert s. unfold sum_of. induction k as [|[q f] k IH]; cbn [summed]; intros s H.
  - injection H as <-. rewrite Q2R_0. reflexivity.
  - destruct (decided (symbol w i) r f) as [b|] eqn:E; [|discriminate].
    destruct (summed (symbol w i) r k) as [s'|]; [|discriminate]. injection H as <-.
    rewrite total_cons. cbn [fst snd]. rewrite (IH s' eq_refl), (decided_true w i r f T b E).
    destruct b; cbn [truth]; rewrite ?Q2R_red, ?Q2R_plus; ring.
Qed.

Lemma sum_between w k i : Q2R (lowest k) <= sum_of w k i <= Q2R (highest k).
Proof.
  unfold sum_of. induction k as [|[q f] k IH]; cbn [lowest highest]; [rewrite Q2R_0; unfold total; cbn; lra|].
  rewrite total_cons. cbn [fst snd]. destruct (Qle_bool q 0) eqn:E.
  - apply Q2R_at_most in E. rewrite Q2R_0 in E. rewrite Q2R_red, Q2R_plus. destruct (holds w f i); cbn; lra.
  - assert (0 <= Q2R q).
    { rewrite <- Q2R_0. apply Qle_Rle. apply Qnot_lt_le. intros L. apply Qlt_le_weak in L.
      apply Qle_bool_iff in L. congruence. }
    rewrite Q2R_red, Q2R_plus. destruct (holds w f i); cbn; lra.
Qed.

Lemma mean_between w k i : (1 <= i)%nat ->
  Q2R (lowest k) <= total (sum_of w k) (seq 1 i) / INR i <= Q2R (highest k).
Proof.
  intros Hi. assert (0 < INR i) by (apply (lt_INR 0); lia).
  assert (Ones : forall c, total (fun _ => c) (seq 1 i) = c * INR i).
  { intros c. rewrite <- total_ones, <- total_scale. apply total_ext. intros. ring. }
  pose proof (total_le (fun _ => Q2R (lowest k)) (sum_of w k) (seq 1 i) (fun j _ => proj1 (sum_between w k j))).
  pose proof (total_le (sum_of w k) (fun _ => Q2R (highest k)) (seq 1 i) (fun j _ => proj2 (sum_between w k j))).
  rewrite Ones in *.
  split; apply Rmult_le_reg_r with (INR i); try assumption; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma seen_right w i r x m v e : true_at w i r -> (1 <= i <= length w)%nat -> means w i x m ->
  seen (symbol w i) r m = Some (v, e) -> Rabs (x - Q2R v) <= Q2R e.
Proof.
  intros T Hi M. assert (Fine : forall y, Rabs (y - y) <= Q2R 0).
  { intros y. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0, Q2R_0. lra. }
  destruct m as [| |p|f d|k|f]; cbn [seen means] in *; intros H; try discriminate.
  - injection H as <- <-. subst x. rewrite <- Q2R_0 at 1. apply Fine.
  - destruct p; try discriminate. injection H as <- <-. subst x. apply Fine.
  - destruct (decided (symbol w i) r f) as [b|] eqn:E; [|discriminate]. injection H as <- <-.
    rewrite Q2R_truth, <- (decided_true w i r f T b E). exact M.
  - assert (Wide : Some (Qred ((lowest k + highest k) * (1 # 2)), Qred ((highest k - lowest k) * (1 # 2)))
                   = Some (v, e) -> Rabs (x - Q2R v) <= Q2R e).
    { intros W. injection W as <- <-. pose proof (mean_between w k i ltac:(lia)). subst x.
      rewrite !Q2R_red, !Q2R_mult, Q2R_plus, Q2R_minus, Q2R_half. apply Rabs_le. lra. }
    destruct (known First r) as [[]|] eqn:E; try (apply Wide; exact H).
    destruct (summed (symbol w i) r k) as [s|] eqn:Es; [|discriminate]. injection H as <- <-.
    apply (known_true w i r _ _ T) in E. cbn in E. apply Nat.eqb_eq in E. subst i. subst x.
    unfold total at 1. cbn [seq fold_right]. rewrite (summed_right w 1 r k s T Es). change (INR 1) with 1.
    replace ((Q2R s + 0) / 1) with (Q2R s) by field. apply Fine.
  - destruct (known First r) as [[]|] eqn:E; [| |discriminate];
      apply (known_true w i r _ _ T) in E; cbn in E; rewrite E in M.
    + injection H as <- <-. subst x. replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; cbn; lra). apply Fine.
    + destruct (decided (symbol w i) r f) as [b|] eqn:Ef; [|discriminate]. injection H as <- <-.
      rewrite (decided_true w i r f T b Ef) in M.
      replace (Q2R (1 # 4)) with (1 / 4) by (unfold Q2R; cbn; lra).
      destruct b; [replace (Q2R (3 # 4)) with (3 / 4) by (unfold Q2R; cbn; lra)
                  |replace (Q2R (-3 # 4)) with (- (3 / 4)) by (unfold Q2R; cbn; lra)]; apply Rabs_le; lra.
Qed.

(* --- of a linear form --- *)
Fixpoint valued (a : nat) (r : facts) (A : list meaning) (l : linear) : option (Q * Q) :=
  match l with
  | [] => Some (0%Q, 0%Q)
  | (c, q) :: l =>
      match seen a r (nth c A Unknown), valued a r A l with
      | Some (v, e), Some (s, d) => Some (Qred (q * v + s), Qred (Qabs q * e + d))
      | _, _ => None
      end
  end.

Lemma valued_right w x A i r : meant w x A -> (1 <= i <= length w)%nat -> true_at w i r ->
  forall l v e, valued (symbol w i) r A l = Some (v, e) -> Rabs (apply l (x i) - Q2R v) <= Q2R e.
Proof.
  intros HA Hi T. induction l as [|[c q] l IH]; cbn [valued]; intros v e H.
  - injection H as <- <-. unfold apply, total. cbn. rewrite Q2R_0, Rminus_0_r, Rabs_R0. lra.
  - destruct (seen (symbol w i) r (nth c A Unknown)) as [[v1 e1]|] eqn:E; [|discriminate].
    destruct (valued (symbol w i) r A l) as [[v2 e2]|]; [|discriminate]. injection H as <- <-.
    pose proof (seen_right w i r (x i c) _ v1 e1 T Hi (HA i c Hi) E). specialize (IH v2 e2 eq_refl).
    rewrite apply_cons, !Q2R_red, !Q2R_plus, !Q2R_mult, Q2R_Qabs.
    replace (Q2R q * x i c + apply l (x i) - (Q2R q * Q2R v1 + Q2R v2))
      with (Q2R q * (x i c - Q2R v1) + (apply l (x i) - Q2R v2)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    apply Rplus_le_compat; [apply Rmult_le_compat_l; [apply Rabs_pos|assumption]|assumption].
Qed.

(* The formulas that a linear form reads, for cases; where averages and signs are read also whether it is the
   first position. *)
Definition read_by (A : list meaning) (l : linear) : list formula :=
  flat_map (fun p => match nth (fst p) A Unknown with
                     | Bit f _ => [f]
                     | Mean k => First :: map snd k
                     | Sign f => [First; f]
                     | _ => []
                     end) l.
