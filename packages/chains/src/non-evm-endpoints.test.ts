import { NodeRefusal, RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { createEndpointOrder, type EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmAttempt, NonEvmOutcome, OpenConnection, PayingConnection } from "./non-evm-connection.ts";
import { connectedTogether } from "./non-evm-endpoints.ts";

const down = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const contradicted = new RpcFault({ kind: "inconsistent", method: "prepare", reason: "may still pay" });
const refusal = new NodeRefusal({ method: "call", nodeCode: -8, nodeText: "no", nodeData: undefined });
const attempt: NonEvmAttempt = { raw: "0x01", txId: `0x${"01".repeat(32)}`, fee: 1n, madeAtMs: 1 };
const block = { number: 7n, hash: `0x${"07".repeat(32)}` } as const;

interface Behavior {
  balance?: bigint | Error;
  outcome?: NonEvmOutcome | Error;
  send?: "sent" | { refused: string } | Error;
  prepare?: NonEvmAttempt | Error;
}

/** Endpoints that answer as the test says, together. */
function chainOf(...behaviors: readonly Behavior[]) {
  let nowMs = 0;
  const asked: number[] = [];
  const answer = async <T>(at: number, value: T | Error | undefined): Promise<T> => {
    asked.push(at);
    if (value === undefined) throw down;
    if (value instanceof Error) throw value;
    return await Promise.resolve(value);
  };
  const connections = behaviors.map((behavior, at) => {
    const connection = {
      balances: async () => new Map([["0x", await answer(at, behavior.balance)]]),
      outcome: async () => await answer(at, behavior.outcome),
      send: async () => await answer(at, behavior.send),
      prepare: async () => await answer(at, behavior.prepare),
    } as unknown as PayingConnection;
    return { ...connection, withKey: () => connection } as unknown as OpenConnection;
  });
  const order: EndpointOrder = createEndpointOrder(
    behaviors.map((_, at) => `node${at}`),
    () => nowMs,
  );
  const together = connectedTogether(connections as unknown as [OpenConnection], order);
  return {
    together,
    forward: (ms: number) => void (nowMs += ms),
    /** The endpoints that were asked since the last call of this. */
    asked: () => asked.splice(0),
    states: () => together.endpoints?.().map(({ state, isLead }) => (isLead ? `${state}, lead` : state)),
  };
}

test("reads go to the first endpoint that works; one that failed is asked last for half a minute", async () => {
  const first: Behavior = { balance: down };
  const { together, forward, asked, states } = chainOf(first, { balance: 5n });
  expect(await together.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(asked()).toEqual([0, 1]);
  expect(states()).toEqual(["failing", "ok, lead"]);
  first.balance = 6n;
  expect(await together.balances([])).toEqual(new Map([["0x", 5n]]));
  expect(asked()).toEqual([1]);
  forward(30_001);
  expect(await together.balances([])).toEqual(new Map([["0x", 6n]]));
  expect(states()).toEqual(["ok, lead", "ok"]);
});

test("when every endpoint fails, the fault of the first one is thrown", async () => {
  const { together, asked } = chainOf({ balance: down }, { balance: contradicted });
  await expect(together.balances([])).rejects.toBe(down);
  expect(asked()).toEqual([0, 1]);
});

test("an endpoint that refuses a request is not passed over, and an error of our own ends the call", async () => {
  const { together, asked, states } = chainOf({ balance: refusal }, { balance: 5n });
  await together.balances([]);
  expect(states()).toEqual(["ok, lead", "ok"]);
  asked();
  const broken = chainOf({ balance: new TypeError("a bug") }, { balance: 5n });
  await expect(broken.together.balances([])).rejects.toThrow("a bug");
  expect(broken.asked()).toEqual([0]);
});

test.each<[string, readonly Behavior[], unknown]>([
  ["one accepts", [{ send: down }, { send: { refused: "spent" } }, { send: "sent" }], "sent"],
  ["none accepts and one refuses", [{ send: down }, { send: { refused: "spent" } }], { refused: "spent" }],
])("a payment is sent to all endpoints: %s", async (_, behaviors, expected) => {
  const { together, asked } = chainOf(...behaviors);
  expect(await together.send(attempt)).toEqual(expected);
  expect(asked()).toHaveLength(behaviors.length);
});

test("a payment that no endpoint takes is a fault", async () => {
  await expect(chainOf({ send: down }, { send: down }).together.send(attempt)).rejects.toBe(down);
});

const dead: NonEvmOutcome = { kind: "dead", reason: "expired" };

test.each<[string, NonEvmOutcome | Error, NonEvmOutcome]>([
  ["shows it as paid", { kind: "final", block }, { kind: "final", block }],
  ["still holds it", { kind: "pending" }, { kind: "pending" }],
  ["does not know it", { kind: "unseen" }, dead],
  ["agrees", dead, dead],
  ["does not answer", down, dead],
])("a payment that one endpoint reports dead while another one %s", async (_, second, expected) => {
  const { together } = chainOf({ outcome: dead }, { outcome: second });
  expect(await together.outcome(attempt)).toEqual(expected);
});

test("an endpoint that contradicts a payment is not replaced by one that does not", async () => {
  const payment = { recipient: "0x", currency: "0x", amount: 1n, orderId: undefined } as const;
  const pays = async (first: Error) => {
    const { together } = chainOf({ prepare: first }, { prepare: attempt });
    return await (await together.withKey(`0x${"01".repeat(32)}`)).prepare(payment, [], []);
  };
  await expect(pays(contradicted)).rejects.toBe(contradicted);
  expect(await pays(down)).toEqual(attempt);
});
