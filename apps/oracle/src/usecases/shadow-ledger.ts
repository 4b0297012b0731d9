import type { ShadowReport } from "@causeway/wire";

/** This oracle's own answer compared with the final one. `alone`: no other oracle signed the final one. */
type Outcome = keyof ShadowReport["local"];

/**
 * Counts how often this oracle agreed with the final answer, and how often its peers answered, since the
 * start.
 */
export interface ShadowLedger {
  note(local: Outcome): void;
  /** Counts a peer's answer, or its failure to answer. */
  notePeer(name: string, outcome: "answered" | "failed" | "diverged"): void;
  report(): ShadowReport;
}

/** @param sinceMs start of the process, ms since epoch */
export function createShadowLedger(shadow: boolean, sinceMs: number): ShadowLedger {
  const local = { ok: 0, alone: 0, failed: 0, mismatch: 0, pending: 0 };
  const peers = new Map<string, { answered: number; failed: number; diverged: number }>();
  return {
    note: (outcome) => {
      local[outcome]++;
    },
    notePeer(name, outcome) {
      const counts = peers.get(name) ?? { answered: 0, failed: 0, diverged: 0 };
      counts[outcome]++;
      peers.set(name, counts);
    },
    report() {
      const { ok, alone, failed, mismatch, pending } = local;
      // An answer that no other oracle signed neither confirms nor refutes this oracle.
      const compared = ok + failed + mismatch;
      return {
        shadow,
        since: new Date(sinceMs).toISOString(),
        attestations: compared + alone + pending,
        local: { ...local },
        agreement: compared === 0 ? null : ok / compared,
        peers: [...peers].map(([name, counts]) => ({ name, ...counts })),
      };
    },
  };
}
