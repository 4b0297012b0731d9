import type {
  Idempotency,
  IdempotencyLease,
  IdempotentCall,
  StoredAnswer,
} from "../../apps/api/src/http/idempotency.port.ts";
import { LeaseLost } from "../../apps/api/src/http/idempotency.port.ts";

/** The same as in the Postgres adapter. */
const LEASE_MS = 60_000;
const RETENTION_MS = 24 * 3600 * 1000;

interface Entry {
  readonly bodyHash: string;
  readonly token: string;
  readonly atMs: number;
  answer: StoredAnswer | undefined;
}

/** An idempotency store in memory. */
export function fakeIdempotency(): Idempotency {
  const entries = new Map<string, Entry>();
  let tokens = 0;
  const nameOf = ({ scope, endpoint, key }: Pick<IdempotentCall, "scope" | "endpoint" | "key">): string =>
    JSON.stringify([scope, endpoint, key]);
  const openEntry = (lease: IdempotencyLease): Entry | undefined => {
    const entry = entries.get(nameOf(lease));
    return entry?.token === lease.token && entry.answer === undefined ? entry : undefined;
  };
  return {
    async begin(call, nowMs) {
      const entry = entries.get(nameOf(call));
      if (entry !== undefined && nowMs - entry.atMs < RETENTION_MS) {
        if (entry.bodyHash !== call.bodyHash) return { kind: "bodyMismatch" };
        if (entry.answer !== undefined) return { kind: "answered", answer: entry.answer };
        if (nowMs - entry.atMs < LEASE_MS) return { kind: "inProgress" };
      }
      const { scope, endpoint, key, bodyHash } = call;
      const token = String(++tokens);
      entries.set(nameOf(call), { bodyHash, token, atMs: nowMs, answer: undefined });
      return { kind: "started", lease: { scope, endpoint, key, token } };
    },
    async finish(lease, answer) {
      const entry = openEntry(lease);
      if (entry === undefined) throw new LeaseLost(lease);
      entry.answer = answer;
    },
    async abandon(lease) {
      if (openEntry(lease) !== undefined) entries.delete(nameOf(lease));
    },
  };
}
