import type { OracleErrorCode } from "@causeway/wire";

/**
 * Why there is no attestation, in words and a code for the caller. Texts hold no secret and no more of the
 * request than a name or an id.
 */
export class AttestationError extends Error {
  override readonly name = "AttestationError";
  readonly code: OracleErrorCode;
  /** Field of the request at fault. */
  readonly field: string | undefined;
  /** Seconds after which asking again makes sense. */
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

/** The request itself cannot be right, whatever any chain says. */
export const invalid = (field: string, message: string): AttestationError =>
  new AttestationError("invalid_request", message, { field });

/** This oracle or the chain does not know what was named. */
export const notFound = (field: string, message: string): AttestationError =>
  new AttestationError("not_found", message, { field });

/** What was claimed is not what happened. */
export const rejected = (field: string, message: string): AttestationError =>
  new AttestationError("rejected", message, { field });
