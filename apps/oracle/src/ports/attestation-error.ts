import type { OracleErrorCode } from "@causeway/wire";

/**
 * Why there is no attestation, as a code and a message for the caller. Messages contain no secrets.
 */
export class AttestationError extends Error {
  override readonly name = "AttestationError";
  readonly code: OracleErrorCode;
  /** The invalid field of the request. */
  readonly field: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: OracleErrorCode,
    message: string,
    facts: { readonly field?: string; readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = code;
    this.field = facts.field;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The request is invalid, independent of any chain. */
export const invalid = (field: string, message: string): AttestationError =>
  new AttestationError("invalid_request", message, { field });

/** This oracle or the chain does not know what the request names. */
export const notFound = (field: string, message: string): AttestationError =>
  new AttestationError("not_found", message, { field });

/** The claim contradicts what happened. */
export const rejected = (field: string, message: string): AttestationError =>
  new AttestationError("rejected", message, { field });
