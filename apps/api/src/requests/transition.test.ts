import { quotedState } from "@causeway/domain";
import type { RequestEvent, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import { noAppBalances } from "../../../../test/fakes/no-app-balances.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { DepositOutcome, RequestSave, TraceNote, Tx } from "../db/unit-of-work.port.ts";
import type { TraceEvent } from "./trace.port.ts";
import { transition, transitionAll } from "./transition.ts";

const NOW_MS = 1_700_000_000_000;
const record: RequestRecord = {
  terms: { requestId: "0x01" } as unknown as RequestTerms,
  state: quotedState("bridge"),
  inTxHashes: [],
  txHashes: [],
  refundTxHashes: [],
  updatedAtMs: 1,
};
const depositSeen: RequestEvent = {
  kind: "depositSeen",
  depositId: "7",
  verdict: { kind: "match" },
  confirmed: true,
  late: false,
};

/** A transaction that records its statements in order. */
function aTransaction() {
  const written: [string, ...unknown[]][] = [];
  const alarms: unknown[] = [];
  const tx = {
    requests: {
      saveAll: async (saves: readonly RequestSave[], atMs: number) => {
        for (const { requestId, ...change } of saves) written.push(["save", requestId, change, atMs]);
      },
      noteAll: async (notes: readonly TraceNote<TraceEvent>[], atMs: number) => {
        for (const { requestId, event, detail } of notes)
          written.push(["note", requestId, atMs, event, detail]);
      },
    },
    deposits: {
      setDispositions: async (disposed: readonly DepositOutcome[]) => {
        for (const { id, disposition, reason, requestId } of disposed)
          written.push(["disposition", id, disposition, reason, requestId]);
      },
    },
    outbox: { add: async (entries: readonly unknown[]) => void written.push(["outbox", ...entries]) },
    events: { alarm: (event: string, facts: object) => void alarms.push([event, facts]) },
  } as unknown as Tx;
  const services = { ...noAppBalances, clock: { nowMs: () => NOW_MS } };
  return { tx, services, written, alarms };
}

test("writes state, effects and trace together and returns the request after the event", async () => {
  const { tx, services, written } = aTransaction();
  const { decision, record: next } = await transition(services, tx, record, depositSeen, {
    inTxHashes: ["0xaa"],
  });
  expect(decision.kind).toBe("applied");
  expect(next).toMatchObject({ state: { name: "fillable" }, inTxHashes: ["0xaa"], updatedAtMs: NOW_MS });
  expect(written).toEqual([
    ["save", "0x01", { inTxHashes: ["0xaa"], state: next.state, enters: record.terms }, NOW_MS],
    ["disposition", "7", "accepted", undefined, "0x01"],
    ["outbox", { job: "fill", jobId: `fill-0x01-${NOW_MS}`, payload: { requestId: "0x01" } }],
    ["note", "0x01", NOW_MS, "depositSeen", { from: "quoted", to: "fillable" }],
  ]);
});

test("a change within the status pending is internal, unless it gives a reason or another deposit", async () => {
  const { tx, services, written } = aTransaction();
  const { record: fillable } = await transition(services, tx, record, depositSeen);
  written.length = 0;
  await transition(services, tx, fillable, { kind: "fillPlanned" });
  await transition(services, tx, fillable, { kind: "fillImpossible", reason: "SOLVER_CAPACITY_EXCEEDED" });
  const saves = written.flatMap(([kind, , save]) => (kind === "save" ? [save] : []));
  expect(saves).toEqual([
    { state: { ...fillable.state, name: "filling" }, isInternal: true },
    expect.not.objectContaining({ isInternal: true }),
  ]);
});

test("a refunded deposit is marked and gets its job", async () => {
  const { tx, services, written } = aTransaction();
  const mismatch = { kind: "mismatch", reason: "DEPOSITED_AMOUNT_MISMATCH", byUser: false } as const;
  await transition(services, tx, record, { ...depositSeen, verdict: mismatch } as RequestEvent);
  expect(written).toContainEqual(["disposition", "7", "refund", "DEPOSITED_AMOUNT_MISMATCH", "0x01"]);
  expect(written).toContainEqual([
    "outbox",
    { job: "refund", jobId: `refund-7-${NOW_MS}`, payload: { depositId: "7" } },
  ]);
});

test("running it again changes nothing", async () => {
  const { tx, services, written } = aTransaction();
  const { record: once } = await transition(services, tx, record, depositSeen);
  written.length = 0;
  const { decision, record: twice } = await transition(services, tx, once, depositSeen);
  expect(decision.kind).toBe("already");
  expect(twice).toBe(once);
  expect(written).toEqual([]);
});

test("an impossible event changes nothing and raises an alarm", async () => {
  const { tx, services, written, alarms } = aTransaction();
  const { decision, record: unchanged } = await transition(services, tx, record, { kind: "fillMined" });
  expect(decision.kind).toBe("rejected");
  expect(unchanged).toBe(record);
  expect(written).toEqual([]);
  expect(alarms).toMatchObject([["transition_rejected", { requestId: "0x01", event: "fillMined" }]]);
});

const another: RequestRecord = { ...record, terms: { requestId: "0x02" } as unknown as RequestTerms };

test("applies events to several requests, each with its own state, deposit, job and trace", async () => {
  const { tx, services, written, alarms } = aTransaction();
  const third = { ...record, terms: { requestId: "0x03" } as unknown as RequestTerms };
  const transitions = await transitionAll(services, tx, [
    { record, event: depositSeen, change: { inTxHashes: ["0xaa"] } },
    { record: third, event: { kind: "fillMined" } },
    {
      record: another,
      event: { ...depositSeen, depositId: "8", confirmed: false },
      facts: { txHash: "0xbb" },
    },
  ]);
  expect(transitions.map(({ decision }) => decision.kind)).toEqual(["applied", "rejected", "applied"]);
  const [first, , last] = transitions.map(({ record: { state } }) => state);
  expect(written).toEqual([
    ["save", "0x01", { inTxHashes: ["0xaa"], state: first, enters: record.terms }, NOW_MS],
    ["save", "0x02", { state: last, enters: another.terms }, NOW_MS],
    ["disposition", "7", "accepted", undefined, "0x01"],
    ["disposition", "8", "accepted", undefined, "0x02"],
    ["outbox", { job: "fill", jobId: `fill-0x01-${NOW_MS}`, payload: { requestId: "0x01" } }],
    ["note", "0x01", NOW_MS, "depositSeen", { from: "quoted", to: "fillable" }],
    ["note", "0x02", NOW_MS, "depositSeen", { from: "quoted", to: "deposited", txHash: "0xbb" }],
  ]);
  expect(alarms).toMatchObject([["transition_rejected", { requestId: "0x03", event: "fillMined" }]]);
});

test("refuses two events for one request, because the second must be decided on the state after the first", async () => {
  const { tx, services, written } = aTransaction();
  const twice = [depositSeen, { ...depositSeen, depositId: "8" }].map((event) => ({ record, event }));
  await expect(transitionAll(services, tx, twice)).rejects.toThrow("two events for one request");
  expect(written).toEqual([]);
});
