import type { Quorum, ShadowReport } from "@causeway/wire";

/** Counts how often this oracle said what was answered, since the process started. */
export interface ShadowLedger {
  note(local: Quorum["local"]): void;
  report(): ShadowReport;
}

/** @param sinceMs start of the process, ms since epoch. */
export function createShadowLedger(shadow: boolean, sinceMs: number): ShadowLedger {
  const local = { ok: 0, failed: 0, mismatch: 0, pending: 0 };
  return {
    note: (outcome) => {
      local[outcome]++;
    },
    report() {
      const { ok, failed, mismatch, pending } = local;
      const decided = ok + failed + mismatch;
      return {
        shadow,
        since: new Date(sinceMs).toISOString(),
        attestations: decided + pending,
        local: { ...local },
        agreement: decided === 0 ? null : ok / decided,
      };
    },
  };
}
