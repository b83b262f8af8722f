(* Rational numbers as real ones. *)

From Coq Require Import Reals Qreals QArith Qabs List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums.
Import ListNotations.
Open Scope R_scope.

Lemma Q2R_equal p q : Qeq_bool p q = true -> Q2R p = Q2R q.
Proof. intros H. apply Qeq_eqR, Qeq_bool_iff, H. Qed.

Lemma Q2R_at_most p q : Qle_bool p q = true -> Q2R p <= Q2R q.
Proof. intros H. apply Qle_Rle, Qle_bool_iff, H. Qed.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma Q2R_0 : Q2R 0 = 0. Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_1 : Q2R 1 = 1. Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_2 : Q2R 2 = 2. Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_4 : Q2R 4 = 4. Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_minus_1 : Q2R (-1) = -1. Proof. unfold Q2R. cbn. lra. Qed.
Lemma Q2R_half : Q2R (1 # 2) = 1 / 2. Proof. unfold Q2R. cbn. lra. Qed.

Lemma Q2R_truth b : Q2R (if b : bool then 1%Q else 0%Q) = truth b.
Proof. destruct b; [apply Q2R_1|apply Q2R_0]. Qed.

Lemma Q2R_Qabs q : Q2R (Qabs q) = Rabs (Q2R q).
Proof.
  destruct (Qlt_le_dec q 0) as [H|H].
  - rewrite (Qeq_eqR _ _ (Qabs_neg q (Qlt_le_weak _ _ H))), Q2R_opp, Rabs_left1; [reflexivity|].
    rewrite <- Q2R_0. apply Qle_Rle, Qlt_le_weak, H.
  - rewrite (Qeq_eqR _ _ (Qabs_pos q H)), Rabs_pos_eq; [reflexivity|]. rewrite <- Q2R_0. apply Qle_Rle, H.
Qed.

(* The factor of a coordinate in a linear form. *)
Fixpoint factor_of (l : linear) (c : nat) : Q :=
  match l with
  | [] => 0%Q
  | (d, q) :: l => if (d =? c)%nat then Qred (q + factor_of l c) else factor_of l c
  end.

Lemma factor_of_right l c : Q2R (factor_of l c) = factor l c.
Proof.
  unfold factor. induction l as [|[d q] l IH]; [apply Q2R_0|]. rewrite total_cons. cbn [factor_of fst snd].
  destruct (d =? c)%nat; [rewrite Q2R_red, Q2R_plus, IH; reflexivity|rewrite IH; lra].
Qed.

Lemma apply_cons c q l x : apply ((c, q) :: l) x = Q2R q * x c + apply l x.
Proof. reflexivity. Qed.

(* A form with one more summand; zero factors are left out. *)
Fixpoint with_summand (c : nat) (q : Q) (l : linear) : linear :=
  match l with
  | [] => [(c, q)]
  | (d, p) :: l =>
      if (d =? c)%nat then let s := Qred (q + p) in if Qeq_bool s 0 then l else (d, s) :: l
      else (d, p) :: with_summand c q l
  end.

Lemma with_summand_right c q l x : apply (with_summand c q l) x = Q2R q * x c + apply l x.
Proof.
  induction l as [|[d p] l IH]; [reflexivity|]. cbn [with_summand]. destruct (Nat.eqb_spec d c) as [->|].
  - cbv zeta. destruct (Qeq_bool (Qred (q + p)) 0) eqn:E; rewrite ?apply_cons.
    + apply Q2R_equal in E. rewrite Q2R_red, Q2R_plus, Q2R_0 in E.
      assert (H : Q2R q = - Q2R p) by lra. rewrite H. ring.
    + rewrite Q2R_red, Q2R_plus. ring.
  - rewrite !apply_cons, IH. ring.
Qed.

Definition with_all (k : Q) (m l : linear) : linear :=
  fold_right (fun p l => with_summand (fst p) (k * snd p) l) l m.

Lemma with_all_right k m l x : apply (with_all k m l) x = Q2R k * apply m x + apply l x.
Proof.
  unfold with_all. induction m as [|[c q] m IH]; [cbn [fold_right]; change (apply [] x) with 0; ring|].
  cbn [fold_right fst snd]. rewrite with_summand_right, IH, apply_cons, Q2R_mult. ring.
Qed.

Lemma Rabs_bounds y a : Rabs y <= a -> - a <= y <= a.
Proof. unfold Rabs. destruct (Rcase_abs y); lra. Qed.
