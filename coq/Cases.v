(* Cases of what can hold at a position: the letter there, and the truth of some formulas.

   Temporal formulas are either free, so that each may hold or not at every position, or they are tracked: then
   their truth follows from the case at the position before.  The cases that can be reached so cover every
   position of every word.  Nothing here is trusted: `cover` is proved. *)

From Coq Require Import List Bool Arith Lia.
From Attemper Require Import Model Logic.
Import ListNotations.

Fixpoint same_text (f g : formula) : bool :=
  match f, g with
  | True_, True_ | First, First => true
  | Symbol a, Symbol b => Nat.eqb a b
  | Not f, Not g | Yesterday f, Yesterday g => same_text f g
  | And f f', And g g' | Or f f', Or g g' | Since f f', Since g g' | AtMost f f', AtMost g g' =>
      same_text f g && same_text f' g'
  | _, _ => false
  end.

Lemma same_text_eq f : forall g, same_text f g = true -> f = g.
Proof.
  induction f; destruct g; cbn; intros H; try discriminate; try reflexivity;
    repeat match goal with
    | H : _ && _ = true |- _ => apply andb_prop in H; destruct H
    | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; subst
    end; f_equal; auto.
Qed.

Definition facts := list (formula * bool).
Definition case := (nat * facts)%type.

Fixpoint known (f : formula) (r : facts) : option bool :=
  match r with
  | [] => None
  | (g, b) :: r => if same_text f g then Some b else known f r
  end.

(* The truth of a formula in a case, if it is known. *)
Fixpoint decided (a : nat) (r : facts) (f : formula) : option bool :=
  match f with
  | True_ => Some true
  | Symbol b => Some (a =? b)%nat
  | Not f => option_map negb (decided a r f)
  | And f g =>
      match decided a r f, decided a r g with
      | Some x, Some y => Some (x && y)
      | Some false, _ | _, Some false => Some false
      | _, _ => None
      end
  | Or f g =>
      match decided a r f, decided a r g with
      | Some x, Some y => Some (x || y)
      | Some true, _ | _, Some true => Some true
      | _, _ => None
      end
  | _ => known f r
  end.

Definition true_at (w : word) (i : nat) (r : facts) : Prop := forall f b, In (f, b) r -> holds w f i = b.

Lemma known_true w i r f b : true_at w i r -> known f r = Some b -> holds w f i = b.
Proof.
  induction r as [|[g c] r IH]; cbn; intros T H; [discriminate|]. destruct (same_text f g) eqn:E.
  - injection H as <-. apply same_text_eq in E. subst g. apply T. left. reflexivity.
  - apply IH; [intros h d Hd; apply T; right; exact Hd|exact H].
Qed.

Lemma decided_true w i r f : true_at w i r -> forall b, decided (symbol w i) r f = Some b -> holds w f i = b.
Proof.
  intros T. induction f; cbn [decided holds]; intros x H;
    try (apply (known_true w i r _ _ T) in H; exact H).
  - injection H as <-. reflexivity.
  - injection H as <-. reflexivity.
  - destruct (decided (symbol w i) r f) as [y|]; [|discriminate]. injection H as <-. rewrite (IHf y); reflexivity.
  - destruct (decided (symbol w i) r f1) as [[]|], (decided (symbol w i) r f2) as [[]|];
      try discriminate; injection H as <-;
      rewrite ?(IHf1 _ eq_refl), ?(IHf2 _ eq_refl), ?andb_false_r; reflexivity.
  - destruct (decided (symbol w i) r f1) as [[]|], (decided (symbol w i) r f2) as [[]|];
      try discriminate; injection H as <-;
      rewrite ?(IHf1 _ eq_refl), ?(IHf2 _ eq_refl), ?orb_true_r; reflexivity.
Qed.

(* Whether a formula held at the position before; none has held before the first. *)
Definition held (before : option case) (f : formula) : option bool :=
  match before with None => Some false | Some (_, p) => known f p end.

(* What a tracked formula can be, behind a case or at the first position. *)
Definition possible (before : option case) (a : nat) (r : facts) (f : formula) : list bool :=
  match f with
  | First => [match before with None => true | Some _ => false end]
  | Yesterday g =>
      match before with
      | None => [false]
      | Some (b, p) => match decided b p g with Some x => [x] | None => [true; false] end
      end
  | Since g h =>
      match decided a r h, decided a r g, held before f with
      | Some true, _, _ => [true]
      | Some false, Some false, _ => [false]
      | Some false, _, Some false => [false]
      | Some false, Some true, Some true => [true]
      | _, _, _ => [true; false]
      end
  | AtMost g h =>
      match before, decided a r g, decided a r h with
      | None, Some x, Some y => [negb x || y]
      | _, _, _ => [true; false]
      end
  | _ => [true; false]
  end.

(* Free formulas come first, so that tracked ones can be decided by them. *)
Definition extended (before : option case) (a : nat) (free tracked : list formula) : list facts :=
  fold_left (fun all f => flat_map (fun r => map (fun b => (f, b) :: r) (possible before a r f)) all) tracked
    (fold_left (fun all f => flat_map (fun r => [(f, true) :: r; (f, false) :: r]) all) free [[]]).

Definition after (letters : nat) (free tracked : list formula) (before : option case) : list case :=
  flat_map (fun a => map (pair a) (extended before a free tracked)) (seq 0 letters).

Fixpoint same_truths (r s : facts) : bool :=
  match r, s with
  | [], [] => true
  | (f, b) :: r, (g, c) :: s => Bool.eqb b c && same_text f g && same_truths r s
  | _, _ => false
  end.

Definition is_case (c d : case) : bool := (fst c =? fst d)%nat && same_truths (snd c) (snd d).

Lemma is_case_eq c d : is_case c d = true -> c = d.
Proof.
  destruct c as [a r], d as [b s]. unfold is_case. cbn. intros H. apply andb_prop in H. destruct H as [H1 H2].
  apply Nat.eqb_eq in H1. subst b. f_equal. revert s H2.
  induction r as [|[f x] r IH]; destruct s as [|[g y] s]; cbn; intros H; try discriminate; [reflexivity|].
  apply andb_prop in H. destruct H as [H H3]. apply andb_prop in H. destruct H as [H1 H2].
  apply eqb_prop in H1. apply same_text_eq in H2. subst. f_equal. apply IH. exact H3.
Qed.

(* All that is reached, for as long as the fuel lasts.  That nothing is left out is checked, not proved. *)
Fixpoint reached (fuel letters : nat) (free tracked : list formula) (done waiting : list case) : list case :=
  match fuel, waiting with
  | S fuel, c :: waiting =>
      if existsb (is_case c) done then reached fuel letters free tracked done waiting
      else reached fuel letters free tracked (c :: done) (after letters free tracked (Some c) ++ waiting)
  | _, _ => done
  end.

Definition is_closed (letters : nat) (free tracked : list formula) (cases : list case) : bool :=
  let all_there := forallb (fun c => existsb (is_case c) cases) in
  all_there (after letters free tracked None) &&
  forallb (fun c => all_there (after letters free tracked (Some c))) cases.

Definition FUEL : nat := 3000.

(* The cases, or none where there are too many. *)
Definition cases (letters : nat) (free tracked : list formula) : option (list case) :=
  match tracked with
  | [] => Some (after letters free tracked None)
  | _ =>
      let found := reached FUEL letters free tracked [] (after letters free tracked None) in
      if is_closed letters free tracked found then Some found else None
  end.

Lemma possible_true w i before a r f : (1 <= i)%nat -> a = symbol w i -> true_at w i r ->
  match before with
  | None => i = 1%nat
  | Some (b, p) => (2 <= i)%nat /\ b = symbol w (i - 1) /\ true_at w (i - 1) p
  end -> In (holds w f i) (possible before a r f).
Proof.
  intros Hi Ha T Hb. subst a. destruct f; cbn [possible]; try (destruct (holds w _ i); cbn; auto; fail).
  - cbn [holds]. destruct before as [[b p]|]; [destruct Hb as (Hb & _)|subst i]; [|left; reflexivity].
    left. symmetry. apply Nat.eqb_neq. lia.
  - cbn [holds]. destruct before as [[b p]|].
    + destruct Hb as (H2 & -> & Tp). destruct (decided (symbol w (i - 1)) p f) as [x|] eqn:E.
      * left. rewrite (decided_true w (i - 1) p f Tp x E).
        destruct (Nat.ltb_spec 1 i); [reflexivity|lia].
      * destruct ((1 <? i)%nat && holds w f (i - 1)); cbn; auto.
    + subst i. left. reflexivity.
  - cbn [holds]. destruct i as [|i]; [lia|]. cbn [since].
    assert (Old : match held before (Since f1 f2) with
                  | Some x => since (holds w f1) (holds w f2) i = x | None => True end).
    { unfold held. destruct before as [[b p]|]; [|injection Hb as ->; reflexivity].
      destruct Hb as (H2 & _ & Tp). destruct (known (Since f1 f2) p) as [x|] eqn:E; [|exact I].
      apply (known_true w _ p _ _ Tp) in E. replace (S i - 1)%nat with i in E by lia. exact E. }
    destruct (held before (Since f1 f2)) as [z|]; [destruct z|].
    all: destruct (decided (symbol w (S i)) r f2) as [y|] eqn:E2;
      [apply (decided_true w (S i) r f2 T) in E2; rewrite E2; destruct y; cbn [orb]; [left; reflexivity|]|];
      destruct (decided (symbol w (S i)) r f1) as [x|] eqn:E1;
      try (apply (decided_true w (S i) r f1 T) in E1; rewrite E1; destruct x); cbn [andb];
      try rewrite Old; rewrite ?andb_false_r, ?andb_true_r;
      try (left; reflexivity);
      match goal with |- In ?b _ => destruct b end; cbn; auto.
  - destruct before as [[b p]|]; [destruct (holds w _ i); cbn; auto|]. subst i.
    destruct (decided (symbol w 1) r f1) as [x|] eqn:E1; [|destruct (holds w _ 1); cbn; auto].
    destruct (decided (symbol w 1) r f2) as [y|] eqn:E2; [|destruct (holds w _ 1); cbn; auto].
    left. unfold holds. fold holds. unfold count. cbn [seq filter].
    rewrite (decided_true w 1 r f1 T x E1), (decided_true w 1 r f2 T y E2). destruct x, y; reflexivity.
Qed.

Lemma extended_true w i before free tracked : (1 <= i)%nat ->
  match before with
  | None => i = 1%nat
  | Some (b, p) => (2 <= i)%nat /\ b = symbol w (i - 1) /\ true_at w (i - 1) p
  end -> exists r, In r (extended before (symbol w i) free tracked) /\ true_at w i r.
Proof.
  intros Hi Hb. unfold extended.
  assert (H : forall l all, (exists r, In r all /\ true_at w i r) ->
    exists r, In r (fold_left (fun all f => flat_map (fun r => [(f, true) :: r; (f, false) :: r]) all) l all)
              /\ true_at w i r).
  { induction l as [|f l IH]; intros all (r & Hr & T); [exists r; auto|]. cbn [fold_left]. apply IH.
    exists ((f, holds w f i) :: r). split.
    - apply in_flat_map. exists r. split; [exact Hr|]. destruct (holds w f i); cbn; auto.
    - intros g b [E|E]; [injection E as <- <-; reflexivity|apply T; exact E]. }
  assert (N : true_at w i []) by (intros f b []).
  destruct (H free [[]] (ex_intro _ [] (conj (or_introl eq_refl) N))) as (r & Hr & T). clear N H.
  revert r Hr T. generalize (fold_left (fun all f => flat_map (fun r => [(f, true) :: r; (f, false) :: r]) all)
                               free [[]]).
  induction tracked as [|f l IH]; intros all r Hr T; [exists r; auto|]. cbn [fold_left].
  apply IH with (r := (f, holds w f i) :: r).
  - apply in_flat_map. exists r. split; [exact Hr|].
    apply (in_map (fun b => (f, b) :: r)). apply (possible_true w); auto.
  - intros g b [E|E]; [injection E as <- <-; reflexivity|apply T; exact E].
Qed.

Lemma after_true letters w i before free tracked : (symbol w i < letters)%nat -> (1 <= i)%nat ->
  match before with
  | None => i = 1%nat
  | Some (b, p) => (2 <= i)%nat /\ b = symbol w (i - 1) /\ true_at w (i - 1) p
  end -> exists r, In (symbol w i, r) (after letters free tracked before) /\ true_at w i r.
Proof.
  intros Hl Hi Hb. destruct (extended_true w i before free tracked Hi Hb) as (r & Hr & T).
  exists r. split; [|exact T]. apply in_flat_map. exists (symbol w i). split.
  - apply in_seq. lia.
  - apply in_map. exact Hr.
Qed.

Theorem cover letters free tracked found w i : cases letters free tracked = Some found ->
  (forall k, (1 <= k <= i)%nat -> (symbol w k < letters)%nat) -> (1 <= i)%nat ->
  exists r, In (symbol w i, r) found /\ true_at w i r.
Proof.
  unfold cases. intros H Hl Hi. destruct tracked as [|t tracked].
  - injection H as <-.
    assert (E : exists r, In r (extended None (symbol w i) free []) /\ true_at w i r).
    { unfold extended. cbn [fold_left].
      assert (G : forall l all, (exists r, In r all /\ true_at w i r) -> exists r,
        In r (fold_left (fun all f => flat_map (fun r => [(f, true) :: r; (f, false) :: r]) all) l all)
        /\ true_at w i r).
      { induction l as [|f l IH]; intros all (r & Hr & T); [exists r; auto|]. cbn [fold_left]. apply IH.
        exists ((f, holds w f i) :: r). split.
        - apply in_flat_map. exists r. split; [exact Hr|]. destruct (holds w f i); cbn; auto.
        - intros g b [E|E]; [injection E as <- <-; reflexivity|apply T; exact E]. }
      apply G. exists []. split; [left; reflexivity|intros f b []]. }
    destruct E as (r & Hr & T). exists r. split; [|exact T]. apply in_flat_map. exists (symbol w i). split.
    + apply in_seq. specialize (Hl i). lia.
    + apply in_map. exact Hr.
  - revert H. generalize (t :: tracked) as all. intros all H.
    match type of H with (if is_closed _ _ _ ?f then _ else _) = _ => set (these := f) in * end.
    destruct (is_closed letters free all these) eqn:C; [|discriminate]. injection H as <-.
    apply andb_prop in C. destruct C as [C0 C1]. rewrite forallb_forall in C0, C1.
    assert (There : forall c, existsb (is_case c) these = true -> In c these).
    { intros c Hc. apply existsb_exists in Hc. destruct Hc as (d & Hd & E). apply is_case_eq in E.
      subst d. exact Hd. }
    clearbody these. induction i as [|i IH]; [lia|]. destruct i as [|i].
    + destruct (after_true letters w 1 None free all ltac:(apply Hl; lia) ltac:(lia) eq_refl) as (r & Hr & T).
      exists r. split; [apply There, C0, Hr|exact T].
    + destruct IH as (p & Hp & Tp); [intros; apply Hl; lia|lia|].
      destruct (after_true letters w (S (S i)) (Some (symbol w (S i), p)) free all
                  ltac:(apply Hl; lia) ltac:(lia)) as (r & Hr & T).
      { replace (S (S i) - 1)%nat with (S i) by lia. repeat split; [lia|exact Tp]. }
      exists r. split; [|exact T]. apply There.
      specialize (C1 _ Hp). rewrite forallb_forall in C1. apply C1. exact Hr.
Qed.

(* Atoms of a formula: what is not made of letters by and, or and not. *)
Definition add (f : formula) (l : list formula) : list formula :=
  if existsb (same_text f) l then l else l ++ [f].
Fixpoint atoms (f : formula) (l : list formula) : list formula :=
  match f with
  | True_ | Symbol _ => l
  | Not f => atoms f l
  | And f g | Or f g => atoms g (atoms f l)
  | _ => add f l
  end.

(* All atoms, those inside of others first. *)
Fixpoint all_atoms (f : formula) (l : list formula) : list formula :=
  match f with
  | True_ | Symbol _ => l
  | Not f => all_atoms f l
  | And f g | Or f g => all_atoms g (all_atoms f l)
  | Yesterday g => add f (all_atoms g l)
  | Since g h | AtMost g h => add f (all_atoms h (all_atoms g l))
  | _ => add f l
  end.
Definition operands (f : formula) (l : list formula) : list formula :=
  match f with
  | Yesterday g => atoms g l
  | Since g h | AtMost g h => atoms h (atoms g l)
  | _ => l
  end.
Definition without (l m : list formula) : list formula :=
  filter (fun f => negb (existsb (same_text f) m)) l.
(* Whether a test is passed in every case that some way of looking at these formulas' atoms leaves:
   all atoms free; the outermost tracked; all tracked. *)
Definition in_all_cases (letters : nat) (formulas : list formula) (test : nat -> facts -> bool) : bool :=
  let passed free tracked :=
    match cases letters free tracked with
    | Some found => forallb (fun c => test (fst c) (snd c)) found
    | None => false
    end in
  let top := fold_right atoms [] formulas in
  let every := fold_right all_atoms [] formulas in
  let outer := without (fold_right operands [] top) top in
  passed top [] ||
  passed outer top || passed [] every.

Theorem in_all_cases_true letters formulas test w i :
  in_all_cases letters formulas test = true ->
  (forall k, (1 <= k <= i)%nat -> (symbol w k < letters)%nat) -> (1 <= i)%nat ->
  exists r, true_at w i r /\ test (symbol w i) r = true.
Proof.
  intros H Hl Hi. unfold in_all_cases in H. cbv zeta in H.
  repeat (apply orb_prop in H; destruct H as [H|H]);
    match type of H with match ?c with _ => _ end = true => destruct c eqn:E; [|discriminate] end;
    destruct (cover _ _ _ _ w i E Hl Hi) as (r & Hr & T); rewrite forallb_forall in H;
    apply H in Hr; eauto.
Qed.

Definition same (letters : nat) (f g : formula) : bool :=
  in_all_cases letters [f; g] (fun a r =>
    match decided a r f, decided a r g with Some x, Some y => Bool.eqb x y | _, _ => false end).

Theorem same_true letters f g w i : same letters f g = true ->
  (forall k, (1 <= k <= i)%nat -> (symbol w k < letters)%nat) -> (1 <= i)%nat ->
  holds w f i = holds w g i.
Proof.
  intros H Hl Hi. destruct (in_all_cases_true _ _ _ w i H Hl Hi) as (r & T & E).
  destruct (decided (symbol w i) r f) as [x|] eqn:Ef; [|discriminate].
  destruct (decided (symbol w i) r g) as [y|] eqn:Eg; [|discriminate].
  apply eqb_prop in E. subst y.
  rewrite (decided_true w i r f T x Ef), (decided_true w i r g T x Eg). reflexivity.
Qed.

(* Comparisons of counts that hold everywhere, as one side implies the other, are true. *)
Fixpoint tidy (letters : nat) (f : formula) : formula :=
  match f with
  | Not f => Not (tidy letters f)
  | And f g => And (tidy letters f) (tidy letters g)
  | Or f g => Or (tidy letters f) (tidy letters g)
  | Yesterday f => Yesterday (tidy letters f)
  | Since f g => Since (tidy letters f) (tidy letters g)
  | AtMost f g =>
      let p := tidy letters f in
      let q := tidy letters g in
      if same letters (Or (Not p) q) True_ then True_ else AtMost p q
  | _ => f
  end.

Lemma since_ext f g f' g' i : (forall j, (1 <= j <= i)%nat -> f j = f' j) ->
  (forall j, (1 <= j <= i)%nat -> g j = g' j) -> since f g i = since f' g' i.
Proof.
  induction i as [|i IH]; intros Hf Hg; [reflexivity|]. cbn [since].
  rewrite Hf, Hg, IH by (intros; (apply Hf || apply Hg || idtac); lia) || lia. reflexivity.
Qed.

Lemma count_ext f g i : (forall j, (1 <= j <= i)%nat -> f j = g j) -> count f i = count g i.
Proof.
  intros H. unfold count. f_equal. apply filter_ext_in. intros j Hj. apply in_seq in Hj. apply H. lia.
Qed.

Lemma count_le f g i : (forall j, (1 <= j <= i)%nat -> f j = true -> g j = true) -> (count f i <= count g i)%nat.
Proof.
  intros H. unfold count. assert (In_ : forall j, In j (seq 1 i) -> f j = true -> g j = true).
  { intros j Hj. apply in_seq in Hj. apply H. lia. }
  induction (seq 1 i) as [|j l IH]; [apply le_n|]. cbn [filter].
  specialize (IH (fun k Hk => In_ k (or_intror Hk))). pose proof (In_ j (or_introl eq_refl)) as Hj.
  destruct (f j) eqn:Ef; [rewrite (Hj eq_refl); cbn; lia|]. destruct (g j); cbn; lia.
Qed.

Theorem tidy_true letters w f : forall i, (forall k, (1 <= k <= i)%nat -> (symbol w k < letters)%nat) ->
  (1 <= i)%nat -> holds w (tidy letters f) i = holds w f i.
Proof.
  induction f; intros i Hl Hi; cbn [tidy holds]; try reflexivity.
  - rewrite IHf by assumption. reflexivity.
  - rewrite IHf1, IHf2 by assumption. reflexivity.
  - rewrite IHf1, IHf2 by assumption. reflexivity.
  - destruct (Nat.ltb_spec 1 i) as [L|L]; [|reflexivity].
    rewrite IHf; [reflexivity|intros; apply Hl; lia|lia].
  - apply since_ext; intros j Hj; [apply IHf1|apply IHf2]; try lia; intros; apply Hl; lia.
  - assert (E1 : count (holds w (tidy letters f1)) i = count (holds w f1) i).
    { apply count_ext. intros j Hj. apply IHf1; [intros; apply Hl; lia|lia]. }
    assert (E2 : count (holds w (tidy letters f2)) i = count (holds w f2) i).
    { apply count_ext. intros j Hj. apply IHf2; [intros; apply Hl; lia|lia]. }
    cbv zeta. destruct (same letters (Or (Not (tidy letters f1)) (tidy letters f2)) True_) eqn:S.
    + cbn [holds]. symmetry. apply Nat.leb_le. rewrite <- E1, <- E2. apply count_le. intros j Hj Hf.
      assert (Hsame := same_true letters _ _ w j S ltac:(intros; apply Hl; lia) ltac:(lia)).
      cbn [holds] in Hsame. rewrite Hf in Hsame. cbn in Hsame. exact Hsame.
    + cbn [holds]. rewrite E1, E2. reflexivity.
Qed.
