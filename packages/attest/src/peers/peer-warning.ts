/**
 * A warning for the operator about one aggregation. Contains no credential, and no text from a peer except a
 * claimed address.
 */
export interface PeerWarning {
  readonly kind:
    | "peerSkipped"
    | "peerDiverges"
    | "signatureRefused"
    | "localFailed"
    | "localDiverges"
    | "belowThreshold";
  /** One sentence. */
  readonly text: string;
  /** Index of the peer in the list. */
  readonly peer?: number;
  /** With `belowThreshold`: how many counted signers signed, and how many are required. */
  readonly matched?: number;
  readonly required?: number;
  readonly error?: unknown;
}

/** The outcome of one peer's call, for counters. Peers that were not waited for are not reported. */
export interface PeerReport {
  readonly peer: number;
  readonly name: string;
  readonly outcome: "answered" | PeerOutcome;
  readonly tookMs: number;
}

/** Why a peer gave no answer. */
export type PeerOutcome =
  | "timeout"
  | "aborted"
  | "network"
  | "status"
  | "tooLarge"
  | "encoding"
  | "notJson"
  | "invalid"
  /** The peer runs in shadow mode: its signatures do not count. */
  | "shadow";
