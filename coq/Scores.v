(* Scores as sums of terms: a rational, a power of i, n and (-1)^i, and what depends on j. *)

From Coq Require Import Reals Qreals QArith List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums Cases Rationals Meanings.
Import ListNotations.
Open Scope R_scope.

Definition power := (Z * Z * bool)%type.     (* i^a n^b, and (-1)^i or not *)
Definition power_at (p : power) (i n : nat) : R :=
  let '(a, b, s) := p in
  powerRZ (INR i) a * powerRZ (INR n) b * (if s : bool then alternating i else 1).
Definition power_times (p q : power) : power :=
  let '(a, b, s) := p in let '(c, d, t) := q in ((a + c)%Z, (b + d)%Z, xorb s t).

Lemma power_times_right p q i n : (1 <= i)%nat -> (1 <= n)%nat ->
  power_at (power_times p q) i n = power_at p i n * power_at q i n.
Proof.
  intros Hi Hn. destruct p as [[a b] s], q as [[c d] t]. cbn [power_times power_at].
  rewrite !powerRZ_add by (apply not_0_INR; lia).
  assert (H : alternating i * alternating i = 1) by (destruct (alternating_cases i) as [-> | ->]; ring).
  destruct s, t; cbn [xorb]; try ring.
  transitivity (powerRZ (INR i) a * powerRZ (INR i) c * (powerRZ (INR n) b * powerRZ (INR n) d)
                * (alternating i * alternating i)); [rewrite H; ring|ring].
Qed.

Fixpoint monomial (f : form) : option (Q * power) :=
  match f with
  | Number q => Some (q, (0, 0, false)%Z)
  | Position => Some (1%Q, (1, 0, false)%Z)
  | Length => Some (1%Q, (0, 1, false)%Z)
  | Alternating => Some (1%Q, (0, 0, true)%Z)
  | Times f g =>
      match monomial f, monomial g with
      | Some (p, m), Some (q, k) => Some (Qred (p * q), power_times m k)
      | _, _ => None
      end
  | Power Position z => Some (1%Q, (z, 0, false)%Z)
  | Power Length z => Some (1%Q, (0%Z, z, false))
  | _ => None
  end.

Lemma monomial_right i n : (1 <= i)%nat -> (1 <= n)%nat -> forall f q m,
  monomial f = Some (q, m) -> value f i n = Q2R q * power_at m i n.
Proof.
  intros Hi Hn. induction f; cbn [monomial]; intros q' m' H; try discriminate.
  - injection H as <- <-. cbn [value power_at]. rewrite !powerRZ_O. ring.
  - injection H as <- <-. cbn [value power_at]. rewrite Q2R_1, ?powerRZ_O, ?powerRZ_1. ring.
  - injection H as <- <-. cbn [value power_at]. rewrite Q2R_1, ?powerRZ_O, ?powerRZ_1. ring.
  - injection H as <- <-. cbn [value power_at]. rewrite Q2R_1, ?powerRZ_O, ?powerRZ_1. ring.
  - destruct (monomial f1) as [[p m]|], (monomial f2) as [[q k]|]; try discriminate. injection H as <- <-.
    cbn [value]. rewrite (IHf1 p m eq_refl), (IHf2 q k eq_refl), Q2R_red, Q2R_mult, power_times_right by assumption.
    ring.
  - destruct f; try discriminate; injection H as <- <-; cbn [value power_at]; rewrite Q2R_1, powerRZ_O; ring.
Qed.

Inductive at_j := Power_of (z : Z) (s : bool) | Truth_of (f : formula).
Definition at_j_value (w : word) (k : at_j) (j : nat) : R :=
  match k with
  | Power_of z s => powerRZ (INR j) z * (if s : bool then alternating j else 1)
  | Truth_of f => truth (holds w f j)
  end.

Definition term := (Q * power * at_j)%type.
Definition term_value (w : word) (i j : nat) (t : term) : R :=
  let '(q, p, k) := t in Q2R q * power_at p i (List.length w) * at_j_value w k j.

Fixpoint query_terms (A : list meaning) (l : linear) : option (list (Q * power)) :=
  match l with
  | [] => Some []
  | (c, q) :: l =>
      match nth c A Unknown, query_terms A l with
      | Place p, Some all =>
          match monomial p with Some (r, m) => Some ((Qred (q * r), m) :: all) | None => None end
      | _, _ => None
      end
  end.

Fixpoint key_terms (A : list meaning) (l : linear) : option (list term) :=
  match l with
  | [] => Some []
  | (c, q) :: l =>
      match nth c A Unknown, key_terms A l with
      | Place p, Some all =>
          match monomial p with
          | Some (r, (a, b, s)) => Some ((Qred (q * r), (0%Z, b, false), Power_of a s) :: all)
          | None => None
          end
      | Bit f e, Some all =>
          if Qeq_bool e 0 then Some ((q, (0, 0, false)%Z, Truth_of f) :: all) else None
      | _, _ => None
      end
  end.

Definition term_times (p : Q * power) (t : term) : term :=
  let '(q, m, k) := t in (Qred (fst p * q), power_times (snd p) m, k).

Fixpoint row_terms (A : list meaning) (l : list (linear * linear)) : option (list term) :=
  match l with
  | [] => Some []
  | (q, k) :: l =>
      match query_terms A q, key_terms A k, row_terms A l with
      | Some qs, Some ks, Some all => Some (flat_map (fun p => map (term_times p) ks) qs ++ all)
      | _, _, _ => None
      end
  end.

Definition score_terms (A : list meaning) (h : head) : option (list term) :=
  match monomial (inverse_temperature h), row_terms A (rows h) with
  | Some t, Some all => Some (map (term_times t) all)
  | _, _ => None
  end.

Section Right.
  Variables (w : word) (x : stream) (A : list meaning).
  Hypothesis HA : meant w x A.
  Let n := List.length w.
  Definition query_value (i : nat) (p : Q * power) : R := Q2R (fst p) * power_at (snd p) i (List.length w).

  Lemma query_right i l all : (1 <= i <= n)%nat -> query_terms A l = Some all ->
    apply l (x i) = total (query_value i) all.
  Proof.
    intros Hi. revert all. induction l as [|[c q] l IH]; cbn [query_terms]; intros all H.
    - injection H as <-. reflexivity.
    - pose proof (HA i c Hi) as M. destruct (nth c A Unknown) as [| |p| | |]; try discriminate.
      destruct (query_terms A l) as [rest|]; [|discriminate].
      destruct (monomial p) as [[r m]|] eqn:E; [|discriminate]. injection H as <-.
      rewrite apply_cons, total_cons, (IH rest eq_refl). unfold query_value at 2. cbn [fst snd means] in *.
      rewrite M, (monomial_right i n) with (q := r) (m := m) by (assumption || lia).
      rewrite Q2R_red, Q2R_mult. unfold n. ring.
  Qed.

  Lemma key_right i j l all : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> key_terms A l = Some all ->
    apply l (x j) = total (term_value w i j) all.
  Proof.
    intros Hi Hj. revert all. induction l as [|[c q] l IH]; cbn [key_terms]; intros all H.
    - injection H as <-. reflexivity.
    - pose proof (HA j c Hj) as M. destruct (nth c A Unknown) as [| |p|f e| |]; try discriminate.
      + destruct (key_terms A l) as [rest|]; [|discriminate].
        destruct (monomial p) as [[r [[a b] s]]|] eqn:E; [|discriminate]. injection H as <-.
        rewrite apply_cons, total_cons, (IH rest eq_refl). cbn [means] in M.
        rewrite M, (monomial_right j n) with (q := r) (m := (a, b, s)) by (assumption || lia).
        unfold term_value at 2. rewrite Q2R_red, Q2R_mult. cbn [power_at at_j_value]. rewrite powerRZ_O. unfold n. ring.
      + destruct (key_terms A l) as [rest|]; [|discriminate].
        destruct (Qeq_bool e 0) eqn:E; [|discriminate]. injection H as <-.
        rewrite apply_cons, total_cons, (IH rest eq_refl), (exact_bit w j _ f e E M).
        unfold term_value at 2. cbn [power_at at_j_value]. rewrite !powerRZ_O. ring.
  Qed.

  Lemma term_times_right i j p t : (1 <= i <= n)%nat ->
    term_value w i j (term_times p t) = query_value i p * term_value w i j t.
  Proof.
    intros Hi. destruct t as [[q m] k]. unfold term_value, query_value, term_times.
    rewrite power_times_right, Q2R_red, Q2R_mult by (unfold n in *; lia). ring.
  Qed.

  Lemma map_times_right i j p l : (1 <= i <= n)%nat ->
    total (term_value w i j) (map (term_times p) l) = query_value i p * total (term_value w i j) l.
  Proof.
    intros Hi. induction l as [|t l IH]; cbn [map]; [unfold total; cbn; ring|].
    rewrite !total_cons, IH, term_times_right by assumption. ring.
  Qed.

  Lemma rows_right i j l all : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> row_terms A l = Some all ->
    total (fun r => apply (fst r) (x i) * apply (snd r) (x j)) l = total (term_value w i j) all.
  Proof.
    intros Hi Hj. revert all. induction l as [|[q k] l IH]; cbn [row_terms]; intros all H.
    - injection H as <-. reflexivity.
    - destruct (query_terms A q) as [qs|] eqn:Eq; [|discriminate].
      destruct (key_terms A k) as [ks|] eqn:Ek; [|discriminate].
      destruct (row_terms A l) as [rest|]; [|discriminate]. injection H as <-.
      rewrite total_cons, total_app, (IH rest eq_refl). cbn [fst snd].
      rewrite (query_right i q qs Hi Eq), (key_right i j k ks Hi Hj Ek). f_equal. clear Eq.
      induction qs as [|p qs IHq]; cbn [flat_map]; [unfold total at 1; cbn; unfold total; cbn; ring|].
      rewrite total_cons, total_app, <- IHq, map_times_right by assumption. ring.
  Qed.

  Lemma score_right h i j all : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> score_terms A h = Some all ->
    score h x n i j = total (term_value w i j) all.
  Proof.
    intros Hi Hj H. unfold score_terms in H.
    destruct (monomial (inverse_temperature h)) as [[q m]|] eqn:E; [|discriminate].
    destruct (row_terms A (rows h)) as [rest|] eqn:Er; [|discriminate]. injection H as <-.
    unfold score. rewrite (rows_right i j _ _ Hi Hj Er), map_times_right by assumption. f_equal.
    unfold query_value. cbn [fst snd]. apply monomial_right; [lia|unfold n in *; lia|exact E].
  Qed.
End Right.

(* --- like terms together; what does not depend on j changes no softmax --- *)
Definition same_power (p q : power) : bool :=
  let '(a, b, s) := p in let '(c, d, t) := q in Z.eqb a c && Z.eqb b d && Bool.eqb s t.
Definition same_at_j (k l : at_j) : bool :=
  match k, l with
  | Power_of a s, Power_of b t => Z.eqb a b && Bool.eqb s t
  | Truth_of f, Truth_of g => same_text f g
  | _, _ => false
  end.

Lemma same_power_eq p q : same_power p q = true -> p = q.
Proof.
  destruct p as [[a b] s], q as [[c d] t]. cbn. intros H. apply andb_prop in H. destruct H as [H H3].
  apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1, H2. apply eqb_prop in H3. congruence.
Qed.
Lemma same_at_j_eq k l : same_at_j k l = true -> k = l.
Proof.
  destruct k, l; cbn; try discriminate; intros H.
  - apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. apply eqb_prop in H2. congruence.
  - apply same_text_eq in H. congruence.
Qed.

Fixpoint with_term (t : term) (l : list term) : list term :=
  match l with
  | [] => [t]
  | (q, m, k) :: l =>
      let '(p, m', k') := t in
      if same_power m' m && same_at_j k' k then (Qred (p + q), m, k) :: l else (q, m, k) :: with_term t l
  end.
Definition moves (t : term) : bool :=
  let '(q, _, k) := t in
  negb (Qeq_bool q 0 || match k with Power_of 0 false => true | _ => false end).
Definition gathered (l : list term) : list term := filter moves (fold_right with_term [] l).

Lemma with_term_right w i j t l :
  total (term_value w i j) (with_term t l) = term_value w i j t + total (term_value w i j) l.
Proof.
  induction l as [|[[q m] k] l IH]; [reflexivity|]. destruct t as [[p m'] k']. cbn [with_term].
  destruct (same_power m' m && same_at_j k' k) eqn:E.
  - apply andb_prop in E. destruct E as [E1 E2]. apply same_power_eq in E1. apply same_at_j_eq in E2. subst.
    rewrite !total_cons. unfold term_value at 1 3 4. rewrite Q2R_red, Q2R_plus. ring.
  - rewrite !total_cons, IH. ring.
Qed.

Lemma gathered_right w i j k l :
  total (term_value w i j) l - total (term_value w i k) l =
  total (term_value w i j) (gathered l) - total (term_value w i k) (gathered l).
Proof.
  assert (H : forall a, total (term_value w i a) l = total (term_value w i a) (fold_right with_term [] l)).
  { intros a. induction l as [|t l IH]; [reflexivity|]. cbn [fold_right].
    rewrite with_term_right, total_cons, IH. reflexivity. }
  rewrite !H. unfold gathered. generalize (fold_right with_term [] l). intros m.
  induction m as [|[[q p] t] m IH]; [reflexivity|]. cbn [filter]. destruct (moves (q, p, t)) eqn:E.
  - rewrite !total_cons. lra.
  - rewrite !total_cons. cbn [moves] in E. apply negb_false_iff in E. apply orb_prop in E.
    assert (term_value w i j (q, p, t) = term_value w i k (q, p, t)); [|lra].
    unfold term_value. destruct E as [E|E].
    + rewrite (Q2R_equal _ _ E), Q2R_0. ring.
    + destruct t as [[| |] [] |]; try discriminate. reflexivity.
Qed.
