import type { AttestationRoute } from "@causeway/attest";

/** A parsed request: everything about it that needs no chain. */
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
   * What aggregation needs. A peer's answer must be about this very request: a quorum's signatures over
   * another payload are easy to get, because they are published.
   */
  readonly route: AttestationRoute<Answer>;
}

/** The parsing step of an attestation use case. */
export type ParseRequest<Request, Answer> = (request: Request) => ParsedRequest<Answer>;
