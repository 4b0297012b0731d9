import { rawKeySigner } from "@causeway/attest";
import type { RequestId } from "@causeway/domain";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { honest, type Behavior } from "./fake-oracle.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
let requestId: RequestId;
beforeAll(async () => {
  world = await startSettlementWorld();
});
afterAll(async () => await world.stop());
beforeEach(async () => {
  world.oracle.behave(honest);
  ({ requestId } = await world.makeFilled());
});

/** An oracle that changes the honest answer. */
const answerWith =
  (change: (answer: Answer, path: string) => void): Behavior =>
  async (path, _body, answer) => {
    const json = structuredClone(await answer()) as Answer;
    change(json, path);
    return { status: 200, json };
  };

interface Answer {
  messages?: {
    data: { chainId: string; transactionId: string };
    result: Record<string, string>;
    extraData?: { timestamp: string };
    signatures: { signature: string }[];
  }[];
  message?: { signatures: { oracle: string; signature: string }[] };
  execution: { idempotencyKey: string; actions: string[]; signatures: { signature: string }[] };
}

const onPayment =
  (change: (answer: Answer) => void): ((answer: Answer, path: string) => void) =>
  (answer, path) => {
    if (path.includes("solver")) change(answer);
  };
const onDeposit =
  (change: (answer: Answer) => void): ((answer: Answer, path: string) => void) =>
  (answer, path) => {
    if (path.includes("deposits")) change(answer);
  };
const firstOf = (answer: Answer) => {
  const [message] = answer.messages ?? [];
  if (message === undefined) throw new Error("message is missing");
  return message;
};

const lies: Readonly<Record<string, (answer: Answer, path: string) => void>> = {
  "too few signatures of the payment's execution": onPayment((a) => void a.execution.signatures.pop()),
  "too few signatures of the payment's message": onPayment((a) => void a.message?.signatures.pop()),
  "too few signatures of the deposit's execution": onDeposit((a) => void a.execution.signatures.pop()),
  "too few signatures of the deposit's message": onDeposit((a) => void firstOf(a).signatures.pop()),
  "one signature twice": onPayment((a) =>
    a.execution.signatures.splice(1, 1, a.execution.signatures[0] ?? { signature: "0x" }),
  ),
  "a forged signature": onPayment((a) => {
    const [, second] = a.execution.signatures;
    if (second) second.signature = `0x${"11".repeat(64)}1b`;
  }),
  "another execution of the payment": onPayment((a) => {
    a.execution.actions = [`${a.execution.actions[0]?.slice(0, -1)}9`];
  }),
  "an extra action": onPayment((a) => void a.execution.actions.push(a.execution.actions[0] ?? "0x")),
  "another idempotency key": onPayment((a) => {
    a.execution.idempotencyKey = `0x${"12".repeat(32)}`;
  }),
  "a larger deposit": onDeposit((a) => {
    firstOf(a).result["amount"] = "999999999999";
  }),
  "another time of the deposit": onDeposit((a) => {
    firstOf(a).extraData = { timestamp: "1" };
  }),
  "another depositor": onDeposit((a) => {
    firstOf(a).result["depositor"] = `0x${"99".repeat(20)}`;
  }),
  "another transaction": onDeposit((a) => {
    firstOf(a).data.transactionId = `0x${"99".repeat(32)}`;
  }),
  "no deposit at all": onDeposit((a) => {
    a.messages = [];
    delete (a as Partial<Answer>).execution;
  }),
  "an invalid address": onDeposit((a) => {
    firstOf(a).result["currency"] = "0xzz";
  }),
};

test.for(Object.keys(lies))("rejects an oracle's answer with %s", async (lie) => {
  world.oracle.behave(answerWith(lies[lie] ?? (() => undefined)));
  const executionsBefore = await world.executions();
  await world.attest();
  await world.submit();
  expect(await world.stateOf(requestId)).toMatchObject({ state: "due", rejected: false });
  expect(await world.executions()).toEqual(executionsBefore);
  expect(world.engine.events.of("oracle_lied").map(({ facts }) => facts["requestId"])).toContain(requestId);
  // A later honest answer is still accepted.
  world.oracle.behave(honest);
  await world.untilSettled(requestId);
});

test("ignores any number of signatures by unknown signers", async () => {
  const strangers = ["d4", "e5", "f6"].map((byte) => rawKeySigner(`0x${byte.repeat(32)}`));
  const [signer] = world.signers;
  if (signer === undefined) throw new Error("no signer is configured");
  const servicesOfOracle = world.servicesAsking(await world.startOracle([...strangers, signer]));
  await world.attest(servicesOfOracle);
  expect((await world.stateOf(requestId)).state).toBe("due");
});

test("combines extra signatures, including unknown ones and in any order, into a set that the hub accepts", async () => {
  const stranger = rawKeySigner(`0x${"d4".repeat(32)}`);
  const [a, b, c] = world.signers;
  if (!a || !b || !c) throw new Error("expected three signers");
  const servicesOfOracle = world.servicesAsking(await world.startOracle([stranger, c, a, b]));
  await world.attest(servicesOfOracle);
  expect((await world.stateOf(requestId)).state).toBe("attested");
  await world.untilSettled(requestId);
});

const waits: Readonly<Record<string, { status: number; json: unknown; waitMs: number }>> = {
  not_final: { status: 400, json: { message: "wait", code: "not_final", retryAfter: 40 }, waitMs: 40_000 },
  not_found: { status: 400, json: { message: "no such transaction", code: "not_found" }, waitMs: 1_000 },
  quorum_not_reached: { status: 409, json: { message: "1 of 2", code: "quorum_not_reached" }, waitMs: 1_000 },
  upstream_unavailable: {
    status: 503,
    json: { message: "rpc", code: "upstream_unavailable" },
    waitMs: 1_000,
  },
  "an error page": { status: 502, json: "<html>", waitMs: 1_000 },
  unauthorized: { status: 401, json: { message: "key", code: "unauthorized" }, waitMs: 1_000 },
};

test.for(Object.keys(waits))("retries after %s", async (name) => {
  const { status, json, waitMs } = waits[name] ?? { status: 0, json: {}, waitMs: 0 };
  world.oracle.behave(async () => ({ status, json }));
  await world.attest();
  expect(await world.stateOf(requestId)).toMatchObject({ state: "due", rejected: false });
  world.oracle.behave(honest);
  const { rows } = await world.engine.pool.query<{ wait: string }>(
    "select next_try_ms - updated_at_ms as wait from settlements where request_id = $1",
    [requestId],
  );
  expect(Number(rows[0]?.wait)).toBe(waitMs);
  world.engine.clock.forward(waitMs);
  await world.attest();
  expect((await world.stateOf(requestId)).state).toBe("attested");
});

test("stores the reason of a rejection for the operator, and retries only hours later", async () => {
  const json = { message: "the recipient got less", code: "rejected" };
  world.oracle.behave(async () => ({ status: 400, json }));
  await world.attest();
  expect(await world.stateOf(requestId)).toEqual({
    state: "due",
    rejected: true,
    reason: "rejected: the recipient got less",
  });
  world.oracle.behave(honest);
  world.engine.clock.forward(3_600_000);
  await world.attest();
  expect((await world.stateOf(requestId)).state).toBe("due");
  world.engine.clock.forward(6 * 3_600_000);
  await world.untilSettled(requestId);
});

test("queries the next oracle immediately if one is down, lies or refuses", async () => {
  const honestOracle = await world.startOracle(world.signers.slice(1));
  const [down, lying, refusing] = [
    await world.startOracle([]),
    await world.startOracle([]),
    await world.startOracle([]),
  ];
  await down.close();
  refusing.behave(async () => ({ status: 400, json: { message: "no", code: "rejected" } }));
  await world.attest(world.servicesAsking(down, lying, refusing, honestOracle));
  expect((await world.stateOf(requestId)).state).toBe("attested");
  await world.untilSettled(requestId);
});

test("limits the time of an oracle whose answer never ends, and fills continue in the meantime", async () => {
  world.oracle.behave(() => new Promise(() => undefined));
  const attesting = world.attest();
  const agreed = await world.makeFilled();
  expect((await world.engine.status(agreed.requestId)).status).toBe("success");
  await attesting;
  expect(await world.stateOf(requestId)).toMatchObject({
    state: "due",
    reason: "no complete response within 2000 ms",
  });
});
