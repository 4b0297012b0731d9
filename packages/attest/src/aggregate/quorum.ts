import type { Address, Hex32 } from "@causeway/domain";
import type { AttestationRoute, ClaimedSignature } from "./attestation-route.ts";
import type { AnswerSource, Examined, QuorumPolicy } from "./examine.ts";

/** The state of the aggregation after some answers. */
export interface QuorumState<Answer> {
  /** The strongest group; undefined if nothing received so far may be returned. */
  readonly best: SignedGroup<Answer> | undefined;
  /** Whether `best` has enough of the listed signers, so that pending answers are not needed. */
  readonly complete: boolean;
}

/** Equal answers and the signers of all their slots. */
export interface SignedGroup<Answer> {
  readonly key: Hex32;
  /** Local first, then by the peers' order. */
  readonly sources: readonly AnswerSource[];
  /**
   * The source of unsigned fields: the local answer if it is in the group, else that of the first peer whose
   * signature counts.
   */
  readonly answer: Answer;
  /** Signers of every slot, ascending. Empty only for an answer of this oracle with nothing to sign. */
  readonly signers: readonly Address[];
  /** For each slot the signatures of `signers`, in their order. */
  readonly slots: readonly (readonly ClaimedSignature[])[];
}

/**
 * Groups equal answers and selects the strongest group: most signers, then the local answer, then the
 * smallest key. A signer counts once, and only if it signed every slot. The order of arrival does not matter.
 * Without a list of signers only the local answer's group may be returned. A peer's answer with nothing to
 * sign is ignored, and this oracle's own loses to any signed group, so that a lagging node cannot hide what
 * was signed.
 */
export function evaluateQuorum<Answer>(
  examined: readonly Examined<Answer>[],
  policy: QuorumPolicy,
): QuorumState<Answer> {
  const byKey = Map.groupBy([...examined].sort(bySource), ({ key }) => key);
  const best = [...byKey.values()]
    .map(toGroup)
    .filter((group) => canBeReturned(group, policy))
    .sort(strongestFirst)[0];
  return {
    best,
    complete: policy.signers !== undefined && best !== undefined && best.signers.length >= policy.threshold,
  };
}

/** The group's answer with the group's signatures. */
export function answerOf<Answer>(route: AttestationRoute<Answer>, group: SignedGroup<Answer>): Answer {
  return group.slots.length === 0 ? group.answer : route.withSignatures(group.answer, group.slots);
}

function toGroup<Answer>(members: readonly Examined<Answer>[]): SignedGroup<Answer> {
  const [first] = members;
  if (first === undefined) throw new Error("invariant violated: empty group");
  const merged = first.slots.map((_, slot) => {
    const bySigner = new Map<Address, ClaimedSignature>();
    for (const member of members)
      for (const [signer, signature] of member.slots[slot] ?? [])
        if (!bySigner.has(signer)) bySigner.set(signer, { signer, signature });
    return bySigner;
  });
  const signers = [...(merged[0]?.keys() ?? [])]
    .filter((signer) => merged.every((slot) => slot.has(signer)))
    .sort();
  const representative =
    first.source === "local"
      ? first
      : members.find(({ slots }) => signers.some((signer) => slots.every((slot) => slot.has(signer))));
  return {
    key: first.key,
    sources: members.map(({ source }) => source),
    answer: (representative ?? first).answer,
    signers,
    slots: merged.map((slot) => signers.flatMap((signer) => slot.get(signer) ?? [])),
  };
}

function canBeReturned<Answer>(group: SignedGroup<Answer>, policy: QuorumPolicy): boolean {
  if (group.slots.length === 0) return hasLocal(group);
  return group.signers.length > 0 && (policy.signers !== undefined || hasLocal(group));
}

function strongestFirst<Answer>(a: SignedGroup<Answer>, b: SignedGroup<Answer>): number {
  if (a.signers.length !== b.signers.length) return b.signers.length - a.signers.length;
  if (hasLocal(a) !== hasLocal(b)) return hasLocal(a) ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

function hasLocal<Answer>(group: SignedGroup<Answer>): boolean {
  return group.sources[0] === "local";
}

function bySource<Answer>(a: Examined<Answer>, b: Examined<Answer>): number {
  return orderOf(a.source) - orderOf(b.source);
}

function orderOf(source: AnswerSource): number {
  return source === "local" ? -1 : source;
}
