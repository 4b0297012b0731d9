import { expect, test } from "vitest";
import type {
  Idempotency,
  IdempotencyLease,
  IdempotentCall,
  StoredAnswer,
} from "../../apps/api/src/http/idempotency.port.ts";
import { LeaseLost } from "../../apps/api/src/http/idempotency.port.ts";

/** In the past, because a store may ignore a clock that is ahead of its own. */
const NOW_MS = 1_600_000_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let calls = 0;

/** A new call that no store knows. */
export function aCall(change: Partial<IdempotentCall> = {}): IdempotentCall {
  return { scope: "key", endpoint: "POST /quote/v2", key: `key-${++calls}`, bodyHash: "aa", ...change };
}

export const anAnswer: StoredAnswer = { status: 200, body: '{"requestId":"0x01"}' };

/** Begins a call. Throws unless the store lets this caller run it. */
export async function beginCall(
  idempotency: Idempotency,
  call: IdempotentCall,
  nowMs = NOW_MS,
): Promise<IdempotencyLease> {
  const begin = await idempotency.begin(call, nowMs);
  if (begin.kind !== "started") throw new Error(`the call is ${begin.kind}`);
  return begin.lease;
}

/** What every idempotency store must guarantee. */
export function idempotencyContract(name: string, make: () => Promise<Idempotency>): void {
  test(`${name}: a call is in progress until it has an answer, which is then repeated for a day`, async () => {
    const store = await make();
    const call = aCall();
    const lease = await beginCall(store, call);
    expect(await store.begin(call, NOW_MS + 1)).toEqual({ kind: "inProgress" });
    await store.finish(lease, anAnswer);
    for (const atMs of [NOW_MS + 2, NOW_MS + DAY_MS - 1])
      expect(await store.begin(call, atMs)).toEqual({ kind: "answered", answer: anAnswer });
    expect(await store.begin(call, NOW_MS + DAY_MS)).toMatchObject({ kind: "started" });
  });

  test(`${name}: a call is identified by caller, endpoint and key together`, async () => {
    const store = await make();
    const call = aCall();
    await beginCall(store, call);
    for (const other of [{ scope: "other" }, { endpoint: "POST /execute" }, { key: `${call.key}x` }])
      expect(await store.begin({ ...call, ...other }, NOW_MS)).toMatchObject({ kind: "started" });
  });

  test(`${name}: a key belongs to its first body for a day, whatever the outcome of the call`, async () => {
    const store = await make();
    const call = aCall();
    const other = { ...call, bodyHash: "bb" };
    const lease = await beginCall(store, call);
    expect(await store.begin(other, NOW_MS)).toEqual({ kind: "bodyMismatch" });
    expect(await store.begin(other, NOW_MS + MINUTE_MS)).toEqual({ kind: "bodyMismatch" });
    await store.finish(lease, anAnswer);
    expect(await store.begin(other, NOW_MS + DAY_MS - 1)).toEqual({ kind: "bodyMismatch" });
    expect(await store.begin(other, NOW_MS + DAY_MS)).toMatchObject({ kind: "started" });
  });

  test(`${name}: another run takes over from a crashed run after a minute, and the crashed run can no longer answer`, async () => {
    const store = await make();
    const call = aCall();
    const dead = await beginCall(store, call);
    expect(await store.begin(call, NOW_MS + MINUTE_MS - 1)).toEqual({ kind: "inProgress" });
    const heir = await beginCall(store, call, NOW_MS + MINUTE_MS);
    await expect(store.finish(dead, { status: 200, body: '"dead"' })).rejects.toBeInstanceOf(LeaseLost);
    await store.abandon(dead);
    expect(await store.begin(call, NOW_MS + MINUTE_MS + 1)).toEqual({ kind: "inProgress" });
    await store.finish(heir, anAnswer);
    expect(await store.begin(call, NOW_MS + 2 * MINUTE_MS)).toEqual({ kind: "answered", answer: anAnswer });
  });

  test(`${name}: a run that exceeds its lease can still answer if no other run took over`, async () => {
    const store = await make();
    const call = aCall();
    const lease = await beginCall(store, call);
    await store.finish(lease, anAnswer);
    expect(await store.begin(call, NOW_MS + 5 * MINUTE_MS)).toMatchObject({ kind: "answered" });
  });

  test(`${name}: a clock that is set back repeats neither a call in progress nor an answered call`, async () => {
    const store = await make();
    const call = aCall();
    const lease = await beginCall(store, call);
    for (const backMs of [MINUTE_MS, 60 * MINUTE_MS, 2 * DAY_MS])
      expect(await store.begin(call, NOW_MS - backMs)).toEqual({ kind: "inProgress" });
    expect(await store.begin({ ...call, bodyHash: "bb" }, NOW_MS - DAY_MS)).toEqual({ kind: "bodyMismatch" });
    await store.finish(lease, anAnswer);
    for (const atMs of [NOW_MS - 2 * DAY_MS, NOW_MS - MINUTE_MS, NOW_MS + 1])
      expect(await store.begin(call, atMs)).toEqual({ kind: "answered", answer: anAnswer });
  });

  test(`${name}: a run that began while the clock was set back loses its lease to the next run, and commits nothing`, async () => {
    const store = await make();
    const call = aCall();
    const behind = await beginCall(store, call, NOW_MS - 60 * MINUTE_MS);
    const heir = await beginCall(store, call);
    await expect(store.finish(behind, { status: 200, body: '"behind"' })).rejects.toBeInstanceOf(LeaseLost);
    await store.finish(heir, anAnswer);
    expect(await store.begin(call, NOW_MS - 60 * MINUTE_MS)).toEqual({ kind: "answered", answer: anAnswer });
  });

  test(`${name}: an answer is stored once`, async () => {
    const store = await make();
    const call = aCall();
    const lease = await beginCall(store, call);
    await store.finish(lease, anAnswer);
    await expect(store.finish(lease, { status: 400, body: "{}" })).rejects.toBeInstanceOf(LeaseLost);
    expect(await store.begin(call, NOW_MS)).toEqual({ kind: "answered", answer: anAnswer });
  });

  test(`${name}: an abandoned call can run again immediately, and an answered call cannot`, async () => {
    const store = await make();
    const call = aCall();
    const lease = await beginCall(store, call);
    await store.abandon(lease);
    const again = await beginCall(store, { ...call, bodyHash: "bb" });
    await store.finish(again, anAnswer);
    await store.abandon(again);
    expect(await store.begin({ ...call, bodyHash: "bb" }, NOW_MS)).toMatchObject({ kind: "answered" });
  });

  test(`${name}: only one of a hundred calls that begin at once runs`, async () => {
    const store = await make();
    const call = aCall();
    const all = await Promise.all(Array.from({ length: 100 }, () => store.begin(call, NOW_MS)));
    expect(all.filter(({ kind }) => kind === "started")).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === "inProgress")).toHaveLength(99);
  });

  test(`${name}: only one of a hundred concurrent takeovers runs`, async () => {
    const store = await make();
    const call = aCall();
    await beginCall(store, call);
    const atMs = NOW_MS + MINUTE_MS;
    const all = await Promise.all(Array.from({ length: 100 }, () => store.begin(call, atMs)));
    expect(all.filter(({ kind }) => kind === "started")).toHaveLength(1);
  });
}
