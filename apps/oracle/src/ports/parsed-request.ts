import type { AttestationRoute } from "@causeway/attest";

/** A request parsed and checked as far as possible without reading a chain. */
export interface ParsedRequest<Answer> {
  /** Chain family, for counters. */
  readonly family: string;
  /** Equal for requests that must have the same answer. */
  readonly key: string;
  /** Whether an answer has nothing to sign. */
  signsNothing(answer: Answer): boolean;
  /** Reads the chains and signs. After the signal aborts, it starts no read and signs nothing. */
  attest(signal: AbortSignal): Promise<Answer>;
  /**
   * How peers' answers to this request are checked and combined. An answer about another request must be
   * refused: a quorum's signatures over other payloads are public.
   */
  readonly route: AttestationRoute<Answer>;
}

/** The parsing step of an attestation use case. */
export type ParseRequest<Request, Answer> = (request: Request) => ParsedRequest<Answer>;
