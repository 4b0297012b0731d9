import type { OracleErrorCode } from "@causeway/wire";

/** An oracle's answer, or why there is none. */
export type OracleAnswer =
  | { readonly kind: "answer"; readonly json: unknown }
  | {
      readonly kind: "refused";
      readonly code: OracleErrorCode;
      readonly message: string;
      /** When a retry makes sense, ms from now. */
      readonly retryAfterMs: number | undefined;
    }
  /** No connection, no answer in time, or an unreadable one. */
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * One attestation oracle, which asks its peers for us. Its answers count only after their signatures were
 * recovered.
 */
export interface AttestationOracle {
  /** Host and port: for logs, never the whole URL. */
  readonly name: string;
  /** Bounded in time and bytes; never throws. `requestId` names the trace that the oracle may join. */
  ask(path: string, body: object, signal: AbortSignal, requestId?: string): Promise<OracleAnswer>;
}

/** Parses an answer; zod schemas fit. */
export interface AnswerForm<Answer> {
  safeParse(json: unknown): { readonly success: true; readonly data: Answer } | { readonly success: false };
}
