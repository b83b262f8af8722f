(* What a head adds to a coordinate, as far as its weights show it. *)

From Coq Require Import Reals Qreals QArith Qabs List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums Lead SignHead Cases Rationals Meanings Scores Reads.
Import ListNotations.
Open Scope R_scope.

Definition letters_below (K : nat) (w : word) : Prop :=
  forall k, (1 <= k <= List.length w)%nat -> (symbol w k < K)%nat.

(* --- the value that is read --- *)
Definition value_is (K : nat) (A : list meaning) (v : linear) (psi : formula) : bool :=
  in_all_cases K (psi :: read_by A v) (fun a r =>
    match valued a r A v, decided a r psi with
    | Some (s, e), Some b => Qeq_bool e 0 && Qeq_bool s (if b then 1 else 0)
    | _, _ => false
    end).

Lemma value_is_right K A w x v psi j : meant w x A -> letters_below K w -> (1 <= j <= List.length w)%nat ->
  value_is K A v psi = true -> apply v (x j) = truth (holds w psi j).
Proof.
  intros HA HK Hj H.
  destruct (in_all_cases_true K _ _ w j H ltac:(intros; apply HK; lia) ltac:(lia)) as (r & T & E).
  destruct (valued (symbol w j) r A v) as [[s e]|] eqn:Ev; [|discriminate].
  destruct (decided (symbol w j) r psi) as [b|] eqn:Ep; [|discriminate].
  apply andb_prop in E. destruct E as [E1 E2].
  pose proof (valued_right w x A j r HA Hj T v s e Ev) as B.
  rewrite (Q2R_equal _ _ E1), Q2R_0 in B. rewrite (Q2R_equal _ _ E2), Q2R_truth in B.
  rewrite (decided_true w j r psi T b Ep). apply Rabs_bounds in B. lra.
Qed.

(* --- Select --- *)
Definition selected (f v : formula) : formula :=
  Or (Since (Not f) (And f v)) (And (Not (Since True_ f)) v).

Lemma selected_right w f v m : (1 <= m)%nat ->
  holds w (selected f v) m = holds w v (match rightmost (holds w f) m with Some k => k | None => m end).
Proof.
  intros _. unfold selected. cbn [holds].
  assert (A : since (fun j => negb (holds w f j)) (fun j => holds w f j && holds w v j) m
              = match rightmost (holds w f) m with Some k => holds w v k | None => false end).
  { induction m as [|m IH]; [reflexivity|]. cbn [since rightmost]. rewrite IH.
    destruct (holds w f (S m)), (holds w v (S m)); reflexivity. }
  assert (B : since (fun _ => true) (holds w f) m
              = match rightmost (holds w f) m with Some _ => true | None => false end).
  { clear A. induction m as [|m IH]; [reflexivity|]. cbn [since rightmost]. rewrite IH.
    destruct (holds w f (S m)); reflexivity. }
  rewrite A, B. destruct (rightmost (holds w f) m); cbn; rewrite ?orb_false_r; reflexivity.
Qed.

Definition shift (is_strict : bool) (f : formula) : formula := if is_strict then Yesterday f else f.

Definition select_meaning (K : nat) (h : head) (P G : Q) (f psi goal : formula) : meaning :=
  let g := if Qle_bool 0 P then f else Not f in
  if Nat.leb 1 (whole G) && Qle_bool (2 * G) (Qabs P) && same K (shift (strict h) (selected g psi)) goal
  then Bit goal (strays G) else Unknown.

Lemma truth_apart a b : Rabs (truth a - truth b) <= 1.
Proof. destruct a, b; cbn; apply Rabs_le; lra. Qed.

Lemma visible_seq b i : visible b i = seq 1 (if b then i - 1 else i).
Proof. destruct b; reflexivity. Qed.

Lemma stray_pos g : 0 < g -> 0 <= stray g.
Proof.
  intros Hg. unfold stray. pose proof (exp_increasing 0 g Hg) as H. rewrite exp_0 in H.
  apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
Qed.

Lemma softmax_ext s v u js : (forall j, In j js -> v j = u j) -> softmax s v js = softmax s u js.
Proof.
  intros H. unfold softmax. destruct js as [|a js]; [reflexivity|]. f_equal. apply total_ext.
  intros j Hj. rewrite (H j Hj). reflexivity.
Qed.

Section Head.
  Variables (K : nat) (w : word) (x : stream) (A : list meaning) (h : head) (v : linear) (psi : formula).
  Hypothesis HA : meant w x A.
  Hypothesis HK : letters_below K w.
  Hypothesis Hv : value_is K A v psi = true.
  Let n := List.length w.
  Let s (i : nat) := score h x n i.
  Definition read_at (i : nat) : R :=
    softmax (score h x (List.length w) i) (fun j => apply v (x j)) (visible (strict h) i).

  Lemma read_truth i : (1 <= i <= n)%nat ->
    read_at i = softmax (s i) (fun j => truth (holds w psi j)) (seq 1 (if strict h then i - 1 else i)).
  Proof.
    intros Hi. unfold read_at. rewrite visible_seq. apply softmax_ext. intros j Hj. apply in_seq in Hj.
    apply (value_is_right K A w x v psi j HA HK); [|exact Hv]. unfold n in *. destruct (strict h); lia.
  Qed.

  Lemma score_differences i j k all p : (1 <= i <= n)%nat -> (1 <= j <= n)%nat -> (1 <= k <= n)%nat ->
    score_terms A h = Some all -> shape_of (gathered all) = Some p ->
    s i j - s i k = shape_score w p i j - shape_score w p i k.
  Proof.
    intros Hi Hj Hk E Es. unfold s, n.
    rewrite (score_right w x A HA h i j all Hi Hj E), (score_right w x A HA h i k all Hi Hk E).
    rewrite gathered_right, !(shape_right w _ p i) by exact Es. reflexivity.
  Qed.

  Lemma select_right i P long f G goal all : (1 <= i <= n)%nat ->
    score_terms A h = Some all -> shape_of (gathered all) = Some (Where P long f G) ->
    means w i (read_at i) (select_meaning K h P G f psi goal).
  Proof.
    intros Hi E Es. unfold select_meaning. cbv zeta. set (g := if Qle_bool 0 P then f else Not f).
    destruct (_ && _ && _) eqn:C; [|exact I]. apply andb_prop in C. destruct C as [C C3].
    apply andb_prop in C. destruct C as [C1 C2]. apply Nat.leb_le in C1. apply Q2R_at_most in C2.
    rewrite Q2R_mult, Q2R_2, Q2R_Qabs in C2. destruct (strays_right G C1) as [HG HS]. cbn [means].
    rewrite <- (same_true K _ _ w i C3 ltac:(intros; apply HK; unfold n in *; lia) ltac:(lia)).
    rewrite read_truth by exact Hi. eapply Rle_trans; [|exact HS].
    set (m := if strict h then (i - 1)%nat else i).
    destruct (Nat.eq_dec m 0) as [Em|Em].
    - unfold m in Em. destruct (strict h) eqn:Est; [|lia]. assert (i = 1%nat) by lia. subst i.
      unfold m. cbn [seq Nat.sub shift holds softmax Nat.ltb Nat.leb andb truth].
      unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. apply stray_pos. exact HG.
    - assert (Eh : holds w (shift (strict h) (selected g psi)) i = holds w (selected g psi) m).
      { unfold m in *. destruct (strict h); cbn [shift holds]; [|reflexivity].
        destruct (Nat.ltb_spec 1 i); [reflexivity|lia]. }
      rewrite Eh, selected_right by lia.
      apply (select_reads (fun j => truth (holds w psi j)) (holds w g) (Rabs (Q2R P)) (Q2R G)
               (INR (if long then n else i)) i m); try assumption.
      + destruct long; apply le_INR; unfold n in *; lia.
      + unfold m in *. destruct (strict h); lia.
      + intros j k _ _. apply truth_apart.
      + intros j k Hj Hk. assert (Hm : (m <= n)%nat) by (unfold m, n in *; destruct (strict h); lia).
        rewrite (score_differences i j k all (Where P long f G)) by (assumption || lia).
        cbn [shape_score]. fold n. unfold g. destruct (Qle_bool 0 P) eqn:EP.
        * apply Q2R_at_most in EP. rewrite Q2R_0 in EP. rewrite Rabs_pos_eq by exact EP. ring.
        * assert (Q2R P <= 0).
          { rewrite <- Q2R_0. apply Qle_Rle, Qlt_le_weak. apply Qnot_le_lt. intros L.
            apply Qle_bool_iff in L. congruence. }
          rewrite Rabs_left1 by assumption. cbn [holds]. destruct (holds w f j), (holds w f k); cbn; ring.
  Qed.

  (* --- Neighbour --- *)
  Definition before (f : formula) : formula := Or (And First f) (Yesterday f).
  Definition leading (W G : Q) : Q := if Qle_bool G W then G else Qred (2 * W - G).
  Definition neighbour_meaning (W G : Q) (goal : formula) : meaning :=
    if negb (strict h) && Nat.leb 1 (whole (leading W G)) && Qle_bool (leading W G) G
       && same K (before psi) goal
    then Bit goal (strays (leading W G)) else Unknown.

  Lemma neighbour_right i W long G goal all : (1 <= i <= n)%nat ->
    score_terms A h = Some all -> shape_of (gathered all) = Some (Beside W long G) ->
    means w i (read_at i) (neighbour_meaning W G goal).
  Proof.
    intros Hi E Es. unfold neighbour_meaning. destruct (_ && _ && _ && _) eqn:C; [|exact I].
    apply andb_prop in C. destruct C as [C C4]. apply andb_prop in C. destruct C as [C C3].
    apply andb_prop in C. destruct C as [C1 C2]. apply negb_true_iff in C1. apply Nat.leb_le in C2.
    apply Q2R_at_most in C3. destruct (strays_right _ C2) as [HG HS]. cbn [means].
    rewrite <- (same_true K _ _ w i C4 ltac:(intros; apply HK; unfold n in *; lia) ltac:(lia)).
    rewrite read_truth by exact Hi. rewrite C1. eapply Rle_trans; [|exact HS].
    assert (HW : Q2R (leading W G) + Q2R G <= 2 * Q2R W).
    { unfold leading in *. destruct (Qle_bool G W) eqn:EW; [apply Q2R_at_most in EW; lra|].
      rewrite Q2R_red, Q2R_minus, Q2R_mult, Q2R_2. lra. }
    unfold before. cbn [holds]. destruct (Nat.eq_dec i 1) as [->|Hne].
    - cbn [seq softmax Nat.eqb Nat.ltb Nat.leb andb orb Nat.sub]. unfold total. cbn [fold_right].
      rewrite orb_false_r. pose proof (exp_pos (s 1 1)).
      replace ((exp (s 1 1) * truth (holds w psi 1) + 0) / (exp (s 1 1) + 0)) with (truth (holds w psi 1))
        by (field; lra).
      unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. apply stray_pos. exact HG.
    - destruct (Nat.eqb_spec i 1); [lia|]. destruct (Nat.ltb_spec 1 i); [|lia]. cbn [andb orb].
      set (X := if long then INR n else 1).
      assert (HX : 1 <= X) by (unfold X; destruct long; [apply (le_INR 1); unfold n in *; lia|lra]).
      apply (neighbour_reads (fun j => truth (holds w psi j)) (Q2R W * X) (Q2R G) (Q2R (leading W G)) i);
        try assumption; try lia; [nra| |].
      + intros j k _ _. apply truth_apart.
      + intros j k Hj Hk.
        rewrite (score_differences i j k all (Beside W long G)) by (assumption || unfold n in *; lia).
        cbn [shape_score]. fold n. fold X. ring.
  Qed.
End Head.

(* --- Uniform: an average, exactly --- *)
Fixpoint mean_terms (A : list meaning) (v : linear) : option (list (Q * formula)) :=
  match v with
  | [] => Some []
  | (c, q) :: v =>
      match nth c A Unknown, mean_terms A v with
      | Zero, Some k => Some k
      | Place (Number p), Some k => Some ((Qred (q * p), True_) :: k)
      | Bit f e, Some k => if Qeq_bool e 0 then Some ((q, f) :: k) else None
      | _, _ => None
      end
  end.

Lemma mean_terms_right w x A j : meant w x A -> (1 <= j <= List.length w)%nat -> forall v k,
  mean_terms A v = Some k -> apply v (x j) = sum_of w k j.
Proof.
  intros HA Hj. unfold sum_of. induction v as [|[c q] v IH]; cbn [mean_terms]; intros k H.
  - injection H as <-. reflexivity.
  - pose proof (HA j c Hj) as M. rewrite apply_cons.
    destruct (nth c A Unknown) as [| |p|f e| |]; try discriminate; cbn [means] in M.
    + destruct (mean_terms A v) as [l|]; [|discriminate]. rewrite M, (IH k H). ring.
    + destruct p; try discriminate. destruct (mean_terms A v) as [l|]; [|discriminate]. injection H as <-.
      rewrite total_cons. cbn [fst snd holds truth value] in *. rewrite (IH l eq_refl), M, Q2R_red, Q2R_mult. ring.
    + destruct (mean_terms A v) as [l|]; [|discriminate]. destruct (Qeq_bool e 0) eqn:E; [|discriminate].
      injection H as <-. rewrite total_cons. cbn [fst snd].
      rewrite (IH l eq_refl), (exact_bit w j _ f e E M). ring.
Qed.

Definition mean_meaning (A : list meaning) (h : head) (v : linear) : meaning :=
  match score_terms A h, mean_terms A v with
  | Some all, Some k =>
      match shape_of (gathered all) with
      | Some Alike => if strict h then Unknown else Mean k
      | _ => Unknown
      end
  | _, _ => Unknown
  end.

Lemma alike_average s v i : (1 <= i)%nat -> (forall j, (1 <= j <= i)%nat -> s j = s 1%nat) ->
  softmax s v (seq 1 i) = total v (seq 1 i) / INR i.
Proof.
  intros Hi Hs. assert (0 < INR i) by (apply (lt_INR 0); lia). pose proof (exp_pos (s 1%nat)).
  unfold softmax. destruct (seq 1 i) as [|a l] eqn:E; [destruct i; [lia|discriminate]|]. rewrite <- E. clear E a l.
  rewrite (total_ext (fun j => exp (s j) * v j) (fun j => exp (s 1%nat) * v j)).
  2:{ intros j Hj. apply in_seq in Hj. rewrite Hs by lia. reflexivity. }
  rewrite (total_ext (fun j => exp (s j)) (fun j => exp (s 1%nat) * 1)).
  2:{ intros j Hj. apply in_seq in Hj. rewrite Hs by lia. ring. }
  rewrite !total_scale, total_ones. field. split; lra.
Qed.

Lemma mean_right w x A h v i : meant w x A -> (1 <= i <= List.length w)%nat ->
  means w i (softmax (score h x (List.length w) i) (fun j => apply v (x j)) (visible (strict h) i))
    (mean_meaning A h v).
Proof.
  intros HA Hi. unfold mean_meaning. destruct (score_terms A h) as [all|] eqn:E; [|exact I].
  destruct (mean_terms A v) as [k|] eqn:Ek; [|exact I].
  destruct (shape_of (gathered all)) as [[| |]|] eqn:Es; try exact I. destruct (strict h); [exact I|].
  cbn [visible means]. rewrite alike_average; [|lia|].
  - f_equal. apply total_ext. intros j Hj. apply in_seq in Hj. apply (mean_terms_right w x A j HA); [lia|exact Ek].
  - intros j Hj.
    pose proof (score_differences w x A h HA i j 1 all Alike Hi ltac:(lia) ltac:(lia) E Es) as D.
    cbn [shape_score] in D. lra.
Qed.

(* --- Sign --- *)
(* That a sum is the first position, times 1 or -1, less twice f, and twice g. *)
Definition is_difference (K : nat) (edge : Q) (f g : formula) (k : list (Q * formula)) : bool :=
  in_all_cases K (First :: f :: g :: map snd k) (fun a r =>
    match summed a r k, decided a r First, decided a r f, decided a r g with
    | Some s, Some b, Some x, Some y =>
        Qeq_bool s ((if b then edge else 0) + (if x then -2 # 1 else 0) + (if y then 2 else 0))
    | _, _, _, _ => false
    end).

Definition cold (A : list meaning) (h : head) : option (nat * bool) :=
  match rows h with
  | [([(c, q)], [(d, p)])] =>
      match nth d A Unknown, monomial (inverse_temperature h) with
      | Place f, Some (t, (a, b, s)) =>
          match monomial f with
          | Some (r, (z, y, u)) =>
              if Qeq_bool (q * p * (t * r)) 4 && negb s && Z.eqb a 0 && Z.eqb y 0 && u then
                if Z.eqb b 0 && Z.eqb z 1 then Some (c, false)
                else if Z.eqb b 1 && Z.eqb z 0 then Some (c, true) else None
              else None
          | None => None
          end
      | _, _ => None
      end
  | _ => None
  end.

Definition reads_alternating (A : list meaning) (v : linear) : bool :=
  match v with
  | [(c, q)] => match nth c A Unknown with Place Alternating => Qeq_bool q 1 | _ => false end
  | _ => false
  end.

(* A comparison and its sides: an odd number that is above 0 where it holds, and below 0 where not. *)
Definition sides (goal : formula) : option (Q * formula * formula) :=
  match goal with
  | AtMost f g => Some (1%Q, f, g)
  | Not (AtMost g f) => Some (-1 # 1, f, g)
  | _ => None
  end.

Definition sign_meaning (K : nat) (A : list meaning) (h : head) (v : linear) (goal : formula) : meaning :=
  match sides goal, cold A h with
  | Some (e, f, g), Some (c, _) =>
      match nth c A Unknown with
      | Mean k =>
          if negb (strict h) && reads_alternating A v && is_difference K e f g k then Sign goal else Unknown
      | _ => Unknown
      end
  | _, _ => Unknown
  end.

Lemma count_total w f i : total (fun j => truth (holds w f j)) (seq 1 i) = INR (count (holds w f) i).
Proof.
  unfold count. induction (seq 1 i) as [|j l IH]; [reflexivity|]. rewrite total_cons, IH. cbn [filter].
  destruct (holds w f j); cbn [truth List.length]; rewrite ?S_INR; lra.
Qed.

Lemma first_total w i : (1 <= i)%nat -> total (fun j => truth (holds w First j)) (seq 1 i) = 1.
Proof.
  intros Hi. rewrite count_total. destruct i as [|i]; [lia|]. unfold count. clear Hi.
  induction i as [|i IH]; [reflexivity|]. rewrite seq_S, filter_app, app_length.
  cbn [filter holds Nat.add Nat.eqb List.length]. rewrite Nat.add_0_r. exact IH.
Qed.

Lemma difference_total K w e f g k i : letters_below K w -> (1 <= i <= List.length w)%nat ->
  is_difference K e f g k = true ->
  total (sum_of w k) (seq 1 i) = Q2R e + 2 * (INR (count (holds w g) i) - INR (count (holds w f) i)).
Proof.
  intros HK Hi H.
  transitivity (total (fun j => Q2R e * truth (holds w First j)
                                + (-2 * truth (holds w f j) + 2 * truth (holds w g j))) (seq 1 i)).
  - apply total_ext. intros j Hj. apply in_seq in Hj.
    destruct (in_all_cases_true K _ _ w j H ltac:(intros; apply HK; lia) ltac:(lia)) as (r & T & E).
    destruct (summed (symbol w j) r k) as [s|] eqn:Es; [|discriminate].
    destruct (decided (symbol w j) r First) as [b|] eqn:Eb; [|discriminate].
    destruct (decided (symbol w j) r f) as [x|] eqn:Ex; [|discriminate].
    destruct (decided (symbol w j) r g) as [y|] eqn:Ey; [|discriminate].
    apply Q2R_equal in E. rewrite !Q2R_plus in E.
    rewrite (summed_right w j r k s T Es), E, (decided_true w j r First T b Eb), (decided_true w j r f T x Ex),
      (decided_true w j r g T y Ey).
    replace (Q2R (if x then -2 # 1 else 0)) with (-2 * truth x) by (destruct x; unfold Q2R; cbn; lra).
    replace (Q2R (if y then 2 else 0)) with (2 * truth y) by (destruct y; unfold Q2R; cbn; lra).
    destruct b; cbn [truth]; rewrite ?Q2R_0; ring.
  - rewrite !total_plus, !total_scale, first_total, !count_total by lia. ring.
Qed.

Lemma cold_right w x A h i j c is_cold : meant w x A -> (1 <= i <= List.length w)%nat ->
  (1 <= j <= List.length w)%nat -> cold A h = Some (c, is_cold) ->
  score h x (List.length w) i j
  = x i c * (4 * ((if is_cold then INR (List.length w) else INR j) * alternating j)).
Proof.
  intros HA Hi Hj H. unfold cold in H. unfold score.
  destruct (rows h) as [|[[|[c' q] [|? ?]] [|[d p] [|? ?]]] [|? ?]]; try discriminate.
  pose proof (HA j d Hj) as M. destruct (nth d A Unknown) as [| |f| | |]; try discriminate.
  destruct (monomial (inverse_temperature h)) as [[t [[a b] s]]|] eqn:Et; [|discriminate].
  destruct (monomial f) as [[r [[z y] u]]|] eqn:Ef; [|discriminate].
  destruct (_ && _ && _ && _ && _) eqn:C; [|discriminate].
  apply andb_prop in C. destruct C as [C Cu]. apply andb_prop in C. destruct C as [C Cy].
  apply andb_prop in C. destruct C as [C Ca]. apply andb_prop in C. destruct C as [Cq Cs].
  apply negb_true_iff in Cs. subst s. apply Z.eqb_eq in Ca, Cy. subst a y u.
  cbn [means] in M. rewrite total_cons. cbn [fst snd]. unfold total at 1. cbn [fold_right].
  rewrite !apply_cons. change (apply [] (x i)) with 0. change (apply [] (x j)) with 0.
  rewrite M, (monomial_right i (List.length w) ltac:(lia) ltac:(lia) _ _ _ Et),
    (monomial_right j (List.length w) ltac:(lia) ltac:(lia) _ _ _ Ef).
  apply Q2R_equal in Cq. rewrite !Q2R_mult, Q2R_4 in Cq. cbn [power_at].
  destruct (Z.eqb b 0 && Z.eqb z 1) eqn:C2.
  - injection H as <- <-. apply andb_prop in C2. destruct C2 as [E1 E2]. apply Z.eqb_eq in E1, E2. subst b z.
    rewrite !powerRZ_O, powerRZ_1.
    transitivity (Q2R q * Q2R p * (Q2R t * Q2R r) * (x i c' * (INR j * alternating j))); [ring|rewrite Cq; ring].
  - destruct (Z.eqb b 1 && Z.eqb z 0) eqn:C3; [|discriminate]. injection H as <- <-.
    apply andb_prop in C3. destruct C3 as [E1 E2]. apply Z.eqb_eq in E1, E2. subst b z.
    rewrite !powerRZ_O, powerRZ_1.
    transitivity (Q2R q * Q2R p * (Q2R t * Q2R r) * (x i c' * (INR (List.length w) * alternating j)));
      [ring|rewrite Cq; ring].
Qed.

Lemma sides_right w goal e f g i : sides goal = Some (e, f, g) ->
  let T := Q2R e + 2 * (INR (count (holds w g) i) - INR (count (holds w f) i)) in
  if holds w goal i then 1 <= T else T <= -1.
Proof.
  intros H T. unfold T. clear T. destruct goal as [| | |[| | | | | | | |p q]| | | | |p q]; try discriminate;
    injection H as <- <- <-; cbn [holds];
    [destruct (Nat.leb_spec (count (holds w p) i) (count (holds w q) i)) as [L|L]
    |destruct (Nat.leb_spec (count (holds w p) i) (count (holds w q) i)) as [L|L]]; cbn [negb];
    apply le_INR in L; rewrite ?S_INR in L; rewrite ?Q2R_1;
    try replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; cbn; lra); lra.
Qed.

Lemma sign_right K w x A h v goal i : meant w x A -> letters_below K w -> (1 <= i <= List.length w)%nat ->
  means w i (softmax (score h x (List.length w) i) (fun j => apply v (x j)) (visible (strict h) i))
    (sign_meaning K A h v goal).
Proof.
  intros HA HK Hi. unfold sign_meaning. destruct (sides goal) as [[[e f] g]|] eqn:Eg; [|exact I].
  destruct (cold A h) as [[c is_cold]|] eqn:Ec; [|exact I]. pose proof (HA i c Hi) as Mc.
  destruct (nth c A Unknown) as [| | | |k|]; try exact I. destruct (_ && _ && _) eqn:C; [|exact I].
  apply andb_prop in C. destruct C as [C C3]. apply andb_prop in C. destruct C as [C1 C2].
  apply negb_true_iff in C1. rewrite C1. cbn [visible means] in *.
  rewrite (difference_total K w e f g k i HK Hi C3) in Mc.
  pose proof (sides_right w goal e f g i Eg) as Side. cbv zeta in Side.
  set (T := Q2R e + 2 * (INR (count (holds w g) i) - INR (count (holds w f) i))) in *.
  rewrite (softmax_ext _ _ alternating).
  2:{ intros j Hj. apply in_seq in Hj. unfold reads_alternating in C2.
      destruct v as [|[d q] [|? ?]]; try discriminate. pose proof (HA j d ltac:(lia)) as Md.
      destruct (nth d A Unknown) as [| |p| | |]; try discriminate. destruct p; try discriminate.
      rewrite apply_cons. change (apply [] (x j)) with 0. cbn in Md.
      rewrite Md, (Q2R_equal _ _ C2), Q2R_1. ring. }
  destruct (Nat.eqb_spec i 1) as [->|Hne].
  - cbn [seq softmax]. unfold total. cbn [fold_right].
    pose proof (exp_pos (score h x (List.length w) 1 1)).
    replace (alternating 1) with (-1) by (unfold alternating; cbn; ring). field. lra.
  - set (d := if holds w goal i then 1 else -1).
    assert (R : 1 / 2 <= d * softmax (score h x (List.length w) i) alternating (seq 1 i) <= 1).
    { destruct is_cold.
      - apply (sign_reads_cold i T d (INR (List.length w))); [lia| | | |].
        + unfold d. destruct (holds w goal i); [left|right]; reflexivity.
        + unfold d. destruct (holds w goal i); lra.
        + apply le_INR. lia.
        + intros j Hj. rewrite (cold_right w x A h i j c true HA Hi ltac:(lia) Ec), Mc. reflexivity.
      - apply (sign_reads i T d); [lia| | |].
        + unfold d. destruct (holds w goal i); [left|right]; reflexivity.
        + unfold d. destruct (holds w goal i); lra.
        + intros j Hj. rewrite (cold_right w x A h i j c false HA Hi ltac:(lia) Ec), Mc. reflexivity. }
    unfold d in R. destruct (holds w goal i); lra.
Qed.
