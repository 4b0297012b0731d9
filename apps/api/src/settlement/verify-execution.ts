import { isSameExecution } from "@causeway/attest";
import type { Execution } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import type { Execution as AnsweredExecution } from "@causeway/wire";
import type { ExecutionKind, SignedExecution } from "./settlement.port.ts";
import { acceptedSignatures } from "./accepted-signatures.ts";
import type { SignedDigest } from "./accepted-signatures.ts";
import type { Judge } from "./hub-facts.ts";

/** The result of verifying an answer. `lie`: it contradicts the facts, or lacks the required signatures. */
export type Verdict<T> =
  | { readonly kind: "true"; readonly value: T }
  | { readonly kind: "lie"; readonly reason: string };

/**
 * Adds the answer's signatures to the expected execution, if a quorum signed it and everything else in the
 * answer.
 * @param expected computed here from facts that this service knows or that a quorum signed
 * @param otherDigests of the same answer: a signer counts only if it signed all of them
 */
export function verifyExecution(
  judge: Judge,
  kind: ExecutionKind,
  expected: Execution,
  answer: AnsweredExecution,
  otherDigests: readonly SignedDigest[],
): Verdict<SignedExecution> {
  if (!isSameExecution(expected, answer))
    return { kind: "lie", reason: `the execution of the ${kind} differs from the expected one` };
  const signedDigest: SignedDigest = {
    digest: judge.digestOf(expected),
    signatures: answer.signatures.map(({ signature }) => signature),
  };
  const verdict = quorumSignature(kind, signedDigest, otherDigests, judge);
  return verdict.kind === "true"
    ? { kind: "true", value: { ...expected, kind, signature: verdict.value } }
    : verdict;
}

/**
 * The signatures of a digest as the hub's multisig reads them: those of a quorum, ascending by signer,
 * concatenated.
 * @param otherDigests of the same answer: a signer counts only if it signed all of them
 */
export function quorumSignature(
  label: string,
  target: SignedDigest,
  otherDigests: readonly SignedDigest[],
  { accepted, threshold }: Pick<Judge, "accepted" | "threshold">,
): Verdict<Hex> {
  const signatures = acceptedSignatures([target, ...otherDigests], target, accepted);
  if (signatures.length < threshold)
    return {
      kind: "lie",
      reason: `the ${label} has ${signatures.length} accepted oracle signatures, but the quorum is ${threshold}`,
    };
  const joined = signatures.slice(0, threshold).map(({ signature }) => signature.slice(2));
  return { kind: "true", value: `0x${joined.join("")}` };
}
