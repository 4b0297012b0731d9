import type { PeerReport, PeerWarning } from "@causeway/attest";
import type { Quorum, OracleErrorCode } from "@causeway/wire";

/** Events for logs and counters. */
export interface OracleEvents {
  /** A request was answered; `nothing`: the answer has nothing to sign. */
  attested(facts: {
    readonly route: string;
    readonly family: string;
    readonly outcome: "ok" | "nothing" | OracleErrorCode;
    readonly quorum?: Quorum | undefined;
    /** Whether the caller asked for the signatures of peers too. */
    readonly wantsPeers?: boolean;
    readonly error?: unknown;
  }): void;
  /** A warning about peers that the operator should see. */
  peerWarning(route: string, warning: PeerWarning): void;
  peerCallEnded(route: string, report: PeerReport): void;
  /** The signing key created a signature, or failed to. */
  signed(isSuccessful: boolean): void;
}
