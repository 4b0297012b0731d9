import type { Evidence } from "@causeway/chains";
import { AttestationError, notFound, rejected } from "../ports/attestation-error.ts";

/**
 * The final value of an evidence read.
 * @throws AttestationError if there is none, it is not final yet, or it is contradicted; `what` names the
 * subject in the message
 */
export function finalValue<Value>(evidence: Evidence<Value>, field: string, what: string): Value {
  switch (evidence.kind) {
    case "final":
      return evidence.value;
    case "notFinal":
      throw new AttestationError("not_final", `${what} is not final: ${evidence.reason}`, {
        field,
        retryAfterSeconds: Math.max(1, Math.ceil(evidence.retryAfterSeconds)),
      });
    case "absent":
      throw notFound(field, `${what} is not on the chain`);
    case "refuted":
      throw rejected(field, `${what}: ${evidence.reason}`);
    default:
      evidence satisfies never;
      throw new TypeError("invariant violated: unknown kind of evidence");
  }
}
