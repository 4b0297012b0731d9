import { isSameExecution } from "@causeway/attest";
import type { Execution } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import type { Execution as AnsweredExecution } from "@causeway/wire";
import type { ExecutionKind, SignedExecution } from "./settlement.port.ts";
import { countedSignatures } from "./counted-signatures.ts";
import type { Slot } from "./counted-signatures.ts";
import type { Judge } from "./hub-facts.ts";

/** The result of verifying an answer. `lie`: it contradicts the facts, or lacks the required signatures. */
export type Verdict<T> =
  | { readonly kind: "true"; readonly value: T }
  | { readonly kind: "lie"; readonly reason: string };

/**
 * The expected execution, with the answer's signatures that hold for it and for all that was signed with it.
 * @param expected computed here from facts that this service knows or that a quorum signed
 * @param others the answer's other slots: a signer counts only if it signed all
 */
export function signedExecution(
  judge: Judge,
  kind: ExecutionKind,
  expected: Execution,
  answered: AnsweredExecution,
  others: readonly Slot[],
): Verdict<SignedExecution> {
  if (!isSameExecution(expected, answered))
    return { kind: "lie", reason: `the execution of the ${kind} differs from the expected one` };
  const slot: Slot = {
    digest: judge.digestOf(expected),
    signatures: answered.signatures.map(({ signature }) => signature),
  };
  const verdict = quorumSignature(kind, slot, others, judge);
  return verdict.kind === "true"
    ? { kind: "true", value: { ...expected, kind, signature: verdict.value } }
    : verdict;
}

/**
 * The signatures of a slot as the hub's multisig reads them: those of a quorum, ascending by signer,
 * concatenated.
 * @param others further slots of the answer: a signer counts only if it signed all
 */
export function quorumSignature(
  what: string,
  slot: Slot,
  others: readonly Slot[],
  { accepted, threshold }: Pick<Judge, "accepted" | "threshold">,
): Verdict<Hex> {
  const counted = countedSignatures([slot, ...others], slot, accepted);
  if (counted.length < threshold)
    return {
      kind: "lie",
      reason: `the ${what} has ${counted.length} accepted oracle signatures, but the quorum is ${threshold}`,
    };
  const joined = counted.slice(0, threshold).map(({ signature }) => signature.slice(2));
  return { kind: "true", value: `0x${joined.join("")}` };
}
