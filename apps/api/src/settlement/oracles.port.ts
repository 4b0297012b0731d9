import type { OracleErrorCode } from "@causeway/wire";

/** What an oracle said, or that it said nothing of use. */
export type OracleAnswer =
  | { readonly kind: "answer"; readonly json: unknown }
  | {
      readonly kind: "refused";
      readonly code: OracleErrorCode;
      readonly message: string;
      /** When asking again makes sense, ms from now. */
      readonly retryAfterMs: number | undefined;
    }
  /** No connection, no answer in time, or none that can be read. */
  | { readonly kind: "away"; readonly reason: string };

/**
 * One attestation oracle, which asks its peers for us. Nothing that it says is believed before its signatures
 * were recovered.
 */
export interface AttestationOracle {
  /** Host and port: for logs, never the whole URL. */
  readonly name: string;
  /** Bounded in time and bytes; never throws. */
  ask(path: string, body: object, signal: AbortSignal): Promise<OracleAnswer>;
}

/** The form of an answer; zod's schemas are such. */
export interface AnswerForm<Answer> {
  safeParse(json: unknown): { readonly success: true; readonly data: Answer } | { readonly success: false };
}
