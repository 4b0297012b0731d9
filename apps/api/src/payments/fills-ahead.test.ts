import type { RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import { NOT_STORED } from "../deposits/index.ts";
import type { FillBasis, PlannedFill } from "./planned-fill.port.ts";
import { createFillsAhead } from "./fills-ahead.ts";

const plan = { amount: 5n } as unknown as PlannedFill;
const request = (n: number) => ({ terms: { requestId: id(n) } }) as unknown as RequestRecord;
const id = (n: number): RequestId => `0x${n.toString(16)}` as RequestId;

function anAhead() {
  let nowMs = 1_000;
  const ahead = createFillsAhead(() => nowMs);
  return { ahead, forward: (ms: number) => (nowMs += ms) };
}

test("a fill that was planned ahead is taken once, with the moment at which its checks began", async () => {
  const { ahead, forward } = anAhead();
  ahead.begin(request(1), async () => plan);
  forward(50);
  expect(await ahead.take(id(1))).toEqual({ request: request(1), planned: plan, checkedAtMs: 1_000 });
  expect(await ahead.take(id(1))).toBeUndefined();
  expect(await ahead.take(id(2))).toBeUndefined();
});

test("a plan that failed, that must be decided by its job or that is too old is not taken", async () => {
  const { ahead, forward } = anAhead();
  ahead.begin(request(1), () => Promise.reject(new Error("the node is unreachable")));
  ahead.begin(request(2), async () => undefined);
  ahead.begin(request(3), async () => plan);
  expect([await ahead.take(id(1)), await ahead.take(id(2))]).toEqual([undefined, undefined]);
  forward(2_001);
  expect(await ahead.take(id(3))).toBeUndefined();
});

test("a job waits for a plan under way, so that a slow node plans the fill once", async () => {
  const { ahead, forward } = anAhead();
  const answer = Promise.withResolvers<typeof plan>();
  ahead.begin(request(1), () => answer.promise);
  forward(50);
  const taken = ahead.take(id(1));
  forward(4_000);
  answer.resolve(plan);
  expect(await taken).toEqual({ request: request(1), planned: plan, checkedAtMs: 1_000 });
});

test("a fill whose request was committed again is planned again", async () => {
  const { ahead } = anAhead();
  ahead.begin(request(1), async () => plan);
  const newer = { amount: 6n } as unknown as PlannedFill;
  ahead.begin(request(1), async () => newer);
  expect(await ahead.take(id(1))).toMatchObject({ planned: newer });
});

const basisOf = (change: Partial<DepositRecord>): FillBasis => ({
  kind: "deposit",
  deposit: { id: NOT_STORED, txHash: "0x0a", amount: 7n, seenAtMs: 900, ...change } as DepositRecord,
  sinceMs: 900,
});

test("a plan that began before its deposit was stored becomes the plan for the stored deposit", async () => {
  const { ahead, forward } = anAhead();
  ahead.begin(request(1), async () => plan, basisOf({}));
  forward(5);
  const stored = basisOf({ id: "4" });
  ahead.begin(request(1), () => Promise.reject(new Error("planned twice")), stored);
  const taken = await ahead.take(id(1));
  expect(taken).toEqual({ request: request(1), planned: { ...plan, basis: stored }, checkedAtMs: 1_000 });
});

test("a plan is not taken without its stored deposit, nor for another one", async () => {
  const { ahead } = anAhead();
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
  const { ahead, forward } = anAhead();
  for (let n = 0; n < 128; n++) ahead.begin(request(n), () => new Promise(() => undefined));
  forward(2_001);
  ahead.begin(request(200), async () => plan);
  expect(await ahead.take(id(200))).toBeUndefined();
});

test("plans at most as many fills as there are jobs, and forgets those whose jobs ran elsewhere", async () => {
  const { ahead, forward } = anAhead();
  for (let n = 0; n < 129; n++) ahead.begin(request(n), async () => plan);
  expect(await ahead.take(id(127))).toBeDefined();
  expect(await ahead.take(id(128))).toBeUndefined();
  forward(2_001);
  for (let n = 200; n < 328; n++) ahead.begin(request(n), async () => plan);
  expect(await ahead.take(id(327))).toBeDefined();
});
