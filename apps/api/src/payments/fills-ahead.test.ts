import type { RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import { NOT_STORED } from "../deposits/index.ts";
import type { FillBasis, PlannedFill } from "./planned-fill.port.ts";
import { createFillsAhead } from "./fills-ahead.ts";

const plan = { amount: 5n } as unknown as PlannedFill;
const request = (n: number) => ({ terms: { requestId: id(n) } }) as unknown as RequestRecord;
const id = (n: number): RequestId => `0x${n.toString(16)}` as RequestId;

function fillsAheadWithClock() {
  let nowMs = 1_000;
  const ahead = createFillsAhead(() => nowMs);
  return { ahead, advance: (ms: number) => (nowMs += ms) };
}

test("returns a plan once, with the time at which its checks began", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  ahead.begin(request(1), async () => plan);
  advance(50);
  expect(await ahead.take(id(1))).toEqual({ request: request(1), planned: plan, checkedAtMs: 1_000 });
  expect(await ahead.take(id(1))).toBeUndefined();
  expect(await ahead.take(id(2))).toBeUndefined();
});

test("returns no plan that failed, that must be decided by its job, or that is too old", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  ahead.begin(request(1), () => Promise.reject(new Error("the node is unreachable")));
  ahead.begin(request(2), async () => undefined);
  ahead.begin(request(3), async () => plan);
  expect([await ahead.take(id(1)), await ahead.take(id(2))]).toEqual([undefined, undefined]);
  advance(2_001);
  expect(await ahead.take(id(3))).toBeUndefined();
});

test("waits for a plan in progress, so that a slow node plans the fill only once", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  const answer = Promise.withResolvers<typeof plan>();
  ahead.begin(request(1), () => answer.promise);
  advance(50);
  const plannedAhead = ahead.take(id(1));
  advance(4_000);
  answer.resolve(plan);
  expect(await plannedAhead).toEqual({ request: request(1), planned: plan, checkedAtMs: 1_000 });
});

test("plans a fill again after its request was committed again", async () => {
  const { ahead } = fillsAheadWithClock();
  ahead.begin(request(1), async () => plan);
  const newer = { amount: 6n } as unknown as PlannedFill;
  ahead.begin(request(1), async () => newer);
  expect(await ahead.take(id(1))).toMatchObject({ planned: newer });
});

const basisOf = (changes: Partial<DepositRecord>): FillBasis => ({
  kind: "deposit",
  deposit: { id: NOT_STORED, txHash: "0x0a", amount: 7n, seenAtMs: 900, ...changes } as DepositRecord,
  sinceMs: 900,
});

test("returns a plan that began before its deposit was stored as the plan for the stored deposit", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  ahead.begin(request(1), async () => plan, basisOf({}));
  advance(5);
  const stored = basisOf({ id: "4" });
  ahead.begin(request(1), () => Promise.reject(new Error("planned twice")), stored);
  const plannedAhead = await ahead.take(id(1));
  expect(plannedAhead).toEqual({
    request: request(1),
    planned: { ...plan, basis: stored },
    checkedAtMs: 1_000,
  });
});

test("returns no plan before its deposit is stored, nor for a different deposit", async () => {
  const { ahead } = fillsAheadWithClock();
  ahead.begin(request(1), async () => plan, basisOf({}));
  expect(await ahead.take(id(1))).toBeUndefined();
  const newer = { amount: 6n } as unknown as PlannedFill;
  for (const change of [{ amount: 8n }, { txHash: "0x0b" }, { seenAtMs: 1 }] as const) {
    ahead.begin(request(1), async () => plan, basisOf({}));
    ahead.begin(request(1), async () => newer, basisOf({ id: "4", ...change }));
    expect(await ahead.take(id(1)), JSON.stringify(Object.keys(change))).toMatchObject({ planned: newer });
  }
});

test("limits plans whose nodes never answer", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  for (let n = 0; n < 128; n++) ahead.begin(request(n), () => new Promise(() => undefined));
  advance(2_001);
  ahead.begin(request(200), async () => plan);
  expect(await ahead.take(id(200))).toBeUndefined();
});

test("plans at most as many fills as there are jobs, and forgets those whose jobs ran elsewhere", async () => {
  const { ahead, advance } = fillsAheadWithClock();
  for (let n = 0; n < 129; n++) ahead.begin(request(n), async () => plan);
  expect(await ahead.take(id(127))).toBeDefined();
  expect(await ahead.take(id(128))).toBeUndefined();
  advance(2_001);
  for (let n = 200; n < 328; n++) ahead.begin(request(n), async () => plan);
  expect(await ahead.take(id(327))).toBeDefined();
});
