(* The checker, a Boolean function of a network, a formula and hints, and the theorem that it is right. *)

From Coq Require Import Reals Qreals QArith Qabs List ZArith Bool Lia Lra.
From Attemper Require Import Model Logic Sums Cases Rationals Meanings Scores Reads Heads.
Import ListNotations.
Open Scope R_scope.

(* What the exporter says of the network; none of it is believed. *)
Inductive read_hint := ReadBit (value goal : formula) | ReadMean | ReadSign (goal : formula).
Record layer_hint := LayerHint { hinted_reads : list (nat * read_hint); hinted_bits : list (nat * formula) }.
Record hints := Hints { at_start : list meaning; in_layers : list layer_hint }.

Fixpoint find {B} (c : nat) (l : list (nat * B)) : option B :=
  match l with [] => None | (d, b) :: l => if (d =? c)%nat then Some b else find c l end.

(* --- before the first layer --- *)
Fixpoint same_form (f g : form) : bool :=
  match f, g with
  | Number p, Number q => Qeq_bool p q
  | Position, Position | Length, Length | Alternating, Alternating => true
  | Plus f f', Plus g g' | Times f f', Times g g' => same_form f g && same_form f' g'
  | Power f y, Power g z => same_form f g && Z.eqb y z
  | IsZero a b c, IsZero a' b' c' => Z.eqb a a' && Z.eqb b b' && Z.eqb c c'
  | _, _ => false
  end.

Lemma same_form_right i n f : forall g, same_form f g = true -> value f i n = value g i n.
Proof.
  induction f; destruct g; cbn [same_form value]; intros H; try discriminate; try reflexivity;
    repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H; destruct H end.
  - apply Q2R_equal. exact H.
  - f_equal; auto.
  - f_equal; auto.
  - apply Z.eqb_eq in H0. subst. f_equal. auto.
  - apply Z.eqb_eq in H, H0, H1. subst. reflexivity.
Qed.

Definition is_first : form := IsZero 1 0 (-1).
Definition is_not_first : form := Plus (Number 1) (Times (Number (-1)) is_first).

Definition embedded (net : network) (c : nat) : list Q := map (fun row => factor_of row c) (embedding net).
Definition added (net : network) (c : nat) : list form :=
  map snd (filter (fun p => (fst p =? c)%nat) (positions net)).

Definition starts_as (net : network) (c : nat) (m : meaning) : bool :=
  let nothing := forallb (fun q => Qeq_bool q 0) (embedded net c) in
  match m, added net c with
  | Unknown, _ => true
  | Zero, [] => nothing
  | Place p, [q] => nothing && same_form q p
  | Bit f e, [] =>
      Qeq_bool e 0 && forallb (fun p => match decided (fst p) [] f with
                                        | Some b => Qeq_bool (snd p) (if b then 1 else 0)
                                        | None => false
                                        end) (combine (seq 0 (List.length (embedding net))) (embedded net c))
  | Bit First e, [q] => Qeq_bool e 0 && nothing && same_form q is_first
  | Bit (Not First) e, [q] => Qeq_bool e 0 && nothing && same_form q is_not_first
  | _, _ => false
  end.

Lemma first_value i n : (1 <= i)%nat -> value is_first i n = truth (i =? 1)%nat.
Proof.
  intros Hi. unfold is_first. cbn [value]. destruct (Nat.eqb_spec i 1) as [->|Hne].
  - replace (1 * Z.of_nat 1 + 0 * Z.of_nat n + -1)%Z with 0%Z by lia. reflexivity.
  - destruct (Z.eqb_spec (1 * Z.of_nat i + 0 * Z.of_nat n + -1) 0); [lia|reflexivity].
Qed.

Lemma total_filter {B} (f : B -> R) p l : total (fun a => if p a : bool then f a else 0) l = total f (filter p l).
Proof.
  induction l as [|a l IH]; [reflexivity|]. rewrite total_cons. cbn [filter].
  destruct (p a); rewrite ?total_cons, IH; lra.
Qed.

Lemma total_map {B C} (f : C -> R) (g : B -> C) l : total f (map g l) = total (fun a => f (g a)) l.
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [map]. rewrite !total_cons, IH. reflexivity. Qed.

Lemma starts_right net w i c m : is_over net w -> (1 <= i <= List.length w)%nat ->
  starts_as net c m = true -> means w i (start net w i c) m.
Proof.
  intros Ho Hi H. unfold start.
  assert (Hs : (symbol w i < List.length (embedding net))%nat).
  { apply Ho. unfold symbol. apply nth_In. lia. }
  replace (total (fun p => if (fst p =? c)%nat then value (snd p) i (List.length w) else 0) (positions net))
    with (total (fun f => value f i (List.length w)) (added net c))
    by (rewrite total_filter; unfold added; rewrite total_map; reflexivity).
  rewrite <- factor_of_right.
  assert (Row : factor_of (nth (symbol w i) (embedding net) []) c = nth (symbol w i) (embedded net c) 0%Q).
  { unfold embedded. rewrite nth_indep with (d' := factor_of [] c) by (rewrite map_length; exact Hs).
    rewrite (map_nth (fun row => factor_of row c)). reflexivity. }
  rewrite Row. clear Row. unfold starts_as in H. cbv zeta in H.
  assert (None_ : forallb (fun q => Qeq_bool q 0) (embedded net c) = true
                  -> Q2R (nth (symbol w i) (embedded net c) 0%Q) = 0).
  { intros N. rewrite forallb_forall in N. rewrite <- Q2R_0. apply Q2R_equal, N, nth_In.
    unfold embedded. rewrite map_length. exact Hs. }
  destruct m as [| |p|f e|k|f]; try (destruct (added net c); discriminate); [exact I| | |].
  - destruct (added net c); [|discriminate]. cbn [means]. rewrite None_ by exact H. unfold total. cbn. lra.
  - destruct (added net c) as [|q [|? ?]]; try discriminate. apply andb_prop in H. destruct H as [H1 H2].
    cbn [means]. rewrite None_, <- (same_form_right i (List.length w) q p H2) by exact H1. unfold total. cbn. lra.
  - destruct (added net c) as [|q l].
    + assert (H' : Qeq_bool e 0 && forallb (fun p => match decided (fst p) [] f with
                     | Some b => Qeq_bool (snd p) (if b then 1 else 0) | None => false end)
                     (combine (seq 0 (List.length (embedding net))) (embedded net c)) = true).
      { destruct f; try exact H; destruct f; exact H. }
      clear H. apply andb_prop in H'. destruct H' as [H1 H2]. apply bit_exact; [exact H1|].
      rewrite forallb_forall in H2.
      specialize (H2 (symbol w i, nth (symbol w i) (embedded net c) 0%Q)). cbn [fst snd] in H2.
      destruct (decided (symbol w i) [] f) as [b|] eqn:E.
      * rewrite (decided_true w i [] f ltac:(intros g d []) b E).
        unfold total. cbn [fold_right]. rewrite Rplus_0_r, <- Q2R_truth. apply Q2R_equal, H2.
        replace (symbol w i, nth (symbol w i) (embedded net c) 0%Q)
          with (nth (symbol w i) (combine (seq 0 (List.length (embedding net))) (embedded net c)) (0%nat, 0%Q)).
        -- apply nth_In. unfold embedded. rewrite combine_length, seq_length, map_length, Nat.min_id. exact Hs.
        -- rewrite combine_nth by (unfold embedded; rewrite seq_length, map_length; reflexivity).
           rewrite seq_nth by exact Hs. reflexivity.
      * assert (X : false = true); [apply H2|discriminate].
        replace (symbol w i, nth (symbol w i) (embedded net c) 0%Q)
          with (nth (symbol w i) (combine (seq 0 (List.length (embedding net))) (embedded net c)) (0%nat, 0%Q)).
        -- apply nth_In. unfold embedded. rewrite combine_length, seq_length, map_length, Nat.min_id. exact Hs.
        -- rewrite combine_nth by (unfold embedded; rewrite seq_length, map_length; reflexivity).
           rewrite seq_nth by exact Hs. reflexivity.
    + destruct l as [|? ?].
      2:{ destruct f; try discriminate. destruct f; discriminate. }
      destruct f as [| | |f| | | | |]; try discriminate.
      * apply andb_prop in H. destruct H as [H H3]. apply andb_prop in H. destruct H as [H1 H2].
        apply bit_exact; [exact H1|]. rewrite None_ by exact H2. unfold total. cbn [fold_right].
        rewrite (same_form_right i (List.length w) q _ H3), first_value by lia. cbn [holds]. lra.
      * destruct f; try discriminate.
        apply andb_prop in H. destruct H as [H H3]. apply andb_prop in H. destruct H as [H1 H2].
        apply bit_exact; [exact H1|]. rewrite None_ by exact H2. unfold total. cbn [fold_right].
        rewrite (same_form_right i (List.length w) q _ H3). unfold is_not_first. cbn [value].
        rewrite first_value, Q2R_1 by lia. replace (Q2R (-1)) with (-1) by (unfold Q2R; cbn; lra).
        cbn [holds]. destruct (i =? 1)%nat; cbn; lra.
Qed.

(* --- heads --- *)
Definition head_meaning (K : nat) (A : list meaning) (h : head) (v : linear) (hint : read_hint) : meaning :=
  match hint with
  | ReadMean => mean_meaning A h v
  | ReadSign goal => sign_meaning K A h v goal
  | ReadBit psi goal =>
      if value_is K A v psi then
        match score_terms A h with
        | Some all =>
            match shape_of (gathered all) with
            | Some (Where P _ f G) => select_meaning K h P G f psi goal
            | Some (Beside W _ G) => neighbour_meaning K h psi W G goal
            | _ => Unknown
            end
        | None => Unknown
        end
      else Unknown
  end.

Lemma head_right K w x A h v hint i : meant w x A -> letters_below K w -> (1 <= i <= List.length w)%nat ->
  means w i (softmax (score h x (List.length w) i) (fun j => apply v (x j)) (visible (strict h) i))
    (head_meaning K A h v hint).
Proof.
  intros HA HK Hi. destruct hint as [psi goal| |goal]; cbn [head_meaning].
  - destruct (value_is K A v psi) eqn:Ev; [|exact I]. destruct (score_terms A h) as [all|] eqn:E; [|exact I].
    destruct (shape_of (gathered all)) as [[|P long f G|W long G]|] eqn:Es; try exact I.
    + apply (select_right K w x A h v psi HA HK Ev i P long f G goal all Hi E Es).
    + apply (neighbour_right K w x A h v psi HA HK Ev i W long G goal all Hi E Es).
  - apply mean_right; assumption.
  - apply sign_right; assumption.
Qed.

Definition writers (c : nat) (hs : list head) : list (head * linear) :=
  flat_map (fun h => map (fun v => (h, fst v)) (filter (fun v => (snd v =? c)%nat) (values h))) hs.

Definition after_reading (K : nat) (A : list meaning) (l : layer) (hint : layer_hint) (c : nat) : meaning :=
  match writers c (heads l) with
  | [] => nth c A Unknown
  | [(h, v)] =>
      match nth c A Unknown, find c (hinted_reads hint) with
      | Zero, Some own => head_meaning K A h v own
      | _, _ => Unknown
      end
  | _ => Unknown
  end.

Lemma total_flat_map {B C} (f : C -> R) (g : B -> list C) l :
  total f (flat_map g l) = total (fun a => total f (g a)) l.
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [flat_map]. rewrite total_app, total_cons, IH. reflexivity. Qed.

Lemma writers_right (x : stream) n i c hs : total (fun h => attended h x n i c) hs
  = total (fun p => softmax (score (fst p) x n i) (fun j => apply (snd p) (x j)) (visible (strict (fst p)) i))
      (writers c hs).
Proof.
  unfold writers. rewrite total_flat_map. apply total_ext. intros h _. unfold attended.
  rewrite total_filter, total_map. reflexivity.
Qed.

Lemma reading_right K w x A l hint i c : meant w x A -> letters_below K w -> (1 <= i <= List.length w)%nat ->
  means w i (after_heads l (List.length w) x i c) (after_reading K A l hint c).
Proof.
  intros HA HK Hi. unfold after_heads, after_reading. rewrite writers_right. pose proof (HA i c Hi) as M.
  destruct (writers c (heads l)) as [|[h v] [|? ?]]; [|destruct (nth c A Unknown); try exact I|exact I].
  - unfold total. cbn [fold_right]. rewrite Rplus_0_r. exact M.
  - destruct (find c (hinted_reads hint)) as [own|]; [|exact I]. cbn [means] in M. rewrite M.
    unfold total. cbn [fold_right fst snd]. rewrite Rplus_0_l, Rplus_0_r. apply head_right; assumption.
Qed.

(* --- the feed-forward: in every case each unit is on or off --- *)
Definition written_to (c : nat) (us : list hidden) : list (Q * hidden) :=
  filter (fun p => negb (Qeq_bool (fst p) 0)) (map (fun u => (factor_of (writes u) c, u)) us).

Fixpoint switched (a : nat) (r : facts) (A : list meaning) (us : list (Q * hidden)) : option (linear * Q) :=
  match us with
  | [] => Some ([], 0%Q)
  | (o, u) :: us =>
      match switched a r A us, valued a r A (reads u) with
      | Some (l, k), Some (v, e) =>
          if Qle_bool e (v + bias u) then Some (with_all o (reads u) l, Qred (o * bias u + k))
          else if Qle_bool (v + bias u + e) 0 then Some (l, k) else None
      | _, _ => None
      end
  end.

Definition is_bit_in (A : list meaning) (us : list (Q * hidden)) (f : formula) (a : nat) (r : facts) : bool :=
  match switched a r A us, decided a r f with
  | Some (l, k), Some b =>
      match valued a r A l with
      | Some (v, e) => Qeq_bool e 0 && Qeq_bool (v + k) (if b then 1 else 0)
      | None => false
      end
  | _, _ => false
  end.

Definition after_switching (K : nat) (A : list meaning) (l : layer) (hint : layer_hint) (c : nat) : meaning :=
  match written_to c (units l) with
  | [] => nth c A Unknown
  | us =>
      match nth c A Unknown, find c (hinted_bits hint) with
      | Zero, Some f =>
          if in_all_cases K (f :: flat_map (fun p => read_by A (reads (snd p))) us) (is_bit_in A us f)
          then Bit f 0 else Unknown
      | _, _ => Unknown
      end
  end.

Lemma switched_right w x A i r : meant w x A -> (1 <= i <= List.length w)%nat -> true_at w i r ->
  forall us l k, switched (symbol w i) r A us = Some (l, k) ->
  total (fun p => relu (apply (reads (snd p)) (x i) + Q2R (bias (snd p))) * Q2R (fst p)) us
  = apply l (x i) + Q2R k.
Proof.
  intros HA Hi T. induction us as [|[o u] us IH]; cbn [switched]; intros l k H.
  - injection H as <- <-. rewrite Q2R_0. unfold apply, total. cbn. ring.
  - destruct (switched (symbol w i) r A us) as [[l' k']|]; [|discriminate].
    destruct (valued (symbol w i) r A (reads u)) as [[v e]|] eqn:Ev; [|discriminate].
    pose proof (valued_right w x A i r HA Hi T _ _ _ Ev) as B. apply Rabs_bounds in B.
    rewrite total_cons, (IH l' k' eq_refl). cbn [fst snd]. unfold relu.
    destruct (Qle_bool e (v + bias u)) eqn:On.
    + injection H as <- <-. apply Q2R_at_most in On. rewrite Q2R_plus in On. rewrite Rmax_right by lra.
      rewrite with_all_right, Q2R_red, Q2R_plus, Q2R_mult. ring.
    + destruct (Qle_bool (v + bias u + e) 0) eqn:Off; [|discriminate]. injection H as <- <-.
      apply Q2R_at_most in Off. rewrite !Q2R_plus, Q2R_0 in Off. rewrite Rmax_left by lra. ring.
Qed.

Lemma written_right (x : stream) i c us :
  total (fun u => relu (apply (reads u) (x i) + Q2R (bias u)) * factor (writes u) c) us
  = total (fun p => relu (apply (reads (snd p)) (x i) + Q2R (bias (snd p))) * Q2R (fst p)) (written_to c us).
Proof.
  unfold written_to. induction us as [|u us IH]; [reflexivity|]. rewrite total_cons, IH. cbn [map filter fst].
  destruct (Qeq_bool (factor_of (writes u) c) 0) eqn:E; cbn [negb].
  - apply Q2R_equal in E. rewrite factor_of_right, Q2R_0 in E. rewrite E. ring.
  - rewrite total_cons. cbn [fst snd]. rewrite factor_of_right. reflexivity.
Qed.

Lemma switching_right K w x A l hint i c : meant w x A -> letters_below K w -> (1 <= i <= List.length w)%nat ->
  means w i (after_units l x i c) (after_switching K A l hint c).
Proof.
  intros HA HK Hi. unfold after_units, after_switching. rewrite written_right. pose proof (HA i c Hi) as M.
  destruct (written_to c (units l)) as [|u us]; [unfold total; cbn [fold_right]; rewrite Rplus_0_r; exact M|].
  destruct (nth c A Unknown); try exact I. destruct (find c (hinted_bits hint)) as [f|]; [|exact I].
  destruct (in_all_cases K _ _) eqn:E; [|exact I].
  destruct (in_all_cases_true K _ _ w i E ltac:(intros; apply HK; lia) ltac:(lia)) as (r & T & B).
  apply bit_exact; [reflexivity|]. cbn [means] in M. rewrite M, Rplus_0_l. unfold is_bit_in in B.
  destruct (switched (symbol w i) r A (u :: us)) as [[l' k]|] eqn:Es; [|discriminate].
  destruct (decided (symbol w i) r f) as [b|] eqn:Ed; [|discriminate].
  destruct (valued (symbol w i) r A l') as [[v e]|] eqn:Ev; [|discriminate].
  apply andb_prop in B. destruct B as [B1 B2].
  rewrite (switched_right w x A i r HA Hi T _ _ _ Es), (decided_true w i r f T b Ed).
  pose proof (valued_right w x A i r HA Hi T _ _ _ Ev) as V. rewrite (Q2R_equal _ _ B1), Q2R_0 in V.
  apply Rabs_bounds in V. apply Q2R_equal in B2. rewrite Q2R_plus, Q2R_truth in B2. lra.
Qed.

(* --- layer by layer --- *)
Definition after_layer (K : nat) (A : list meaning) (l : layer) (hint : layer_hint) : list meaning :=
  let B := map (after_reading K A l hint) (seq 0 (List.length A)) in
  map (after_switching K B l hint) (seq 0 (List.length B)).

Fixpoint after_layers (K : nat) (A : list meaning) (ls : list layer) (hs : list layer_hint)
  : option (list meaning) :=
  match ls, hs with
  | [], [] => Some A
  | l :: ls, h :: hs => after_layers K (after_layer K A l h) ls hs
  | _, _ => None
  end.

Definition agree (K : nat) (g f : formula) : bool := same K g f || same K (tidy K g) (tidy K f).

Lemma agree_true K w g f i : letters_below K w -> (1 <= i <= List.length w)%nat -> agree K g f = true ->
  holds w g i = holds w f i.
Proof.
  intros HK Hi H. assert (HL : forall k, (1 <= k <= i)%nat -> (symbol w k < K)%nat) by (intros; apply HK; lia).
  apply orb_prop in H. destruct H as [H|H].
  - apply (same_true K g f w i H HL). lia.
  - rewrite <- (tidy_true K w g i HL), <- (tidy_true K w f i HL) by lia. apply (same_true K _ _ w i H HL). lia.
Qed.

Definition check (net : network) (h : hints) (f : formula) : bool :=
  let K := List.length (embedding net) in
  forallb (fun p => starts_as net (fst p) (snd p)) (combine (seq 0 (List.length (at_start h))) (at_start h)) &&
  match after_layers K (at_start h) (layers net) (in_layers h) with
  | Some A =>
      match nth (output net) A Unknown with
      | Bit g e => Qeq_bool e 0 && agree K g f
      | Place (Number q) => (Qeq_bool q 1 && agree K True_ f) || (Qeq_bool q 0 && agree K (Not True_) f)
      | Zero => agree K (Not True_) f
      | _ => false
      end
  | None => false
  end.

Lemma nth_of_map (f : nat -> meaning) m c :
  nth c (map f (seq 0 m)) Unknown = if (c <? m)%nat then f c else Unknown.
Proof.
  destruct (Nat.ltb_spec c m) as [H|H].
  - rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; exact H).
    rewrite map_nth, seq_nth by exact H. reflexivity.
  - apply nth_overflow. rewrite map_length, seq_length. exact H.
Qed.

Lemma layer_right K w x A l hint : meant w x A -> letters_below K w ->
  meant w (after_units l (after_heads l (List.length w) x)) (after_layer K A l hint).
Proof.
  intros HA HK. unfold after_layer.
  assert (HB : meant w (after_heads l (List.length w) x)
                 (map (after_reading K A l hint) (seq 0 (List.length A)))).
  { intros i c Hi. rewrite nth_of_map. destruct (c <? List.length A)%nat; [|exact I].
    apply reading_right; assumption. }
  intros i c Hi. rewrite nth_of_map.
  match goal with |- context [(c <? ?m)%nat] => destruct (c <? m)%nat; [|exact I] end.
  apply switching_right; assumption.
Qed.

Lemma layers_right K w ls : letters_below K w -> forall hs x A B, meant w x A ->
  after_layers K A ls hs = Some B ->
  meant w (fold_left (fun x l => after_units l (after_heads l (List.length w) x)) ls x) B.
Proof.
  intros HK. induction ls as [|l ls IH]; intros [|h hs] x A B HA H; try discriminate.
  - injection H as <-. exact HA.
  - cbn [fold_left]. apply (IH hs _ (after_layer K A l h)); [apply layer_right; assumption|exact H].
Qed.

Theorem check_sound (net : network) (h : hints) (f : formula) : check net h f = true -> computes net f.
Proof.
  unfold check. cbv zeta. intros H w i Ho Hi. set (K := List.length (embedding net)) in *.
  assert (HK : letters_below K w).
  { intros k Hk. apply Ho. unfold symbol. apply nth_In. lia. }
  apply andb_prop in H. destruct H as [H1 H2].
  destruct (after_layers K (at_start h) (layers net) (in_layers h)) as [A|] eqn:E; [|discriminate].
  assert (H0 : meant w (start net w) (at_start h)).
  { intros j c Hj. destruct (Nat.lt_ge_cases c (List.length (at_start h))) as [L|L].
    - apply starts_right; [exact Ho|exact Hj|]. rewrite forallb_forall in H1.
      apply (H1 (c, nth c (at_start h) Unknown)).
      replace (c, nth c (at_start h) Unknown)
        with (nth c (combine (seq 0 (List.length (at_start h))) (at_start h)) (0%nat, Unknown)).
      + apply nth_In. rewrite combine_length, seq_length, Nat.min_id. exact L.
      + rewrite combine_nth by apply seq_length. rewrite seq_nth by exact L. reflexivity.
    - rewrite nth_overflow by exact L. exact I. }
  pose proof (layers_right K w _ HK _ _ _ _ H0 E i (output net) Hi) as M.
  destruct (nth (output net) A Unknown) as [| |p|g e| |]; try discriminate; cbn [means] in M.
  - rewrite <- (agree_true K w (Not True_) f i HK Hi H2). exact M.
  - destruct p as [q| | | | | | |]; try discriminate. cbn [value] in M. unfold put_out, run. rewrite M.
    apply orb_prop in H2. destruct H2 as [H2|H2]; apply andb_prop in H2; destruct H2 as [H2 H3].
    + rewrite <- (agree_true K w True_ f i HK Hi H3), (Q2R_equal _ _ H2). apply Q2R_1.
    + rewrite <- (agree_true K w (Not True_) f i HK Hi H3), (Q2R_equal _ _ H2). apply Q2R_0.
  - apply andb_prop in H2. destruct H2 as [H2 H3]. apply exact_bit in M; [|exact H2].
    rewrite <- (agree_true K w g f i HK Hi H3). exact M.
Qed.
