import type { Hex } from "@causeway/domain";
import type { Execution as AnsweredExecution } from "@causeway/wire";
import type { Execution, ExecutionKind, SignedExecution } from "./settlement.port.ts";
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
  const same =
    answered.idempotencyKey.toLowerCase() === expected.idempotencyKey &&
    answered.actions.length === expected.actions.length &&
    answered.actions.every((action, at) => action.toLowerCase() === expected.actions[at]);
  if (!same) return { kind: "lie", reason: `the execution of the ${kind} differs from the expected one` };
  const slot: Slot = {
    digest: judge.digestOf(expected),
    signatures: answered.signatures.map(({ signature }) => signature),
  };
  const counted = countedSignatures([slot, ...others], slot, judge.accepted);
  if (counted.length < judge.threshold)
    return {
      kind: "lie",
      reason: `the ${kind} has ${counted.length} accepted oracle signatures, but the quorum is ${judge.threshold}`,
    };
  // The multisig reads the first `threshold` signatures, which must ascend.
  const joined = counted.slice(0, judge.threshold).map(({ signature }) => signature.slice(2));
  const signature: Hex = `0x${joined.join("")}`;
  return { kind: "true", value: { ...expected, kind, signature } };
}
