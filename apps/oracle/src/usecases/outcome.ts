import { ServiceError } from "@causeway/domain";
import type { OracleErrorCode } from "@causeway/wire";
import { AttestationError } from "../ports/attestation-error.ts";

const MAX_CAUSE_DEPTH = 8;

/**
 * Errors caused by the node, the network or the key service, never by the caller. By name, because each
 * package has its own class.
 */
const UPSTREAM: ReadonlySet<string> = new Set([
  "RpcFault",
  "NodeRefusal",
  "SignerUnavailable",
  "TimeoutError",
]);

/** The error code of any failed attestation. */
export function outcomeOf(error: unknown): OracleErrorCode {
  if (error instanceof AttestationError) return error.code;
  for (
    let current = error, depth = 0;
    current instanceof Error && depth < MAX_CAUSE_DEPTH;
    current = current.cause, depth++
  )
    if (UPSTREAM.has(current.name)) return "upstream_unavailable";
  if (error instanceof ServiceError) {
    if (error.code === "INVALID_REQUEST") return "invalid_request";
    if (error.code === "REQUEST_TIMED_OUT") return "upstream_unavailable";
  }
  return "internal";
}
