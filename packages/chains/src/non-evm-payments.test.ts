import { RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import {
  InsufficientInventory,
  type NonEvmAttempt,
  type OpenConnection,
  type PayingConnection,
} from "./non-evm-connection.ts";
import { connectedTogether } from "./non-evm-endpoints.ts";

const down = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const short = new InsufficientInventory("insufficient solver balance");
const payment = { recipient: "0x0a", currency: "0x0c", amount: 1n, orderId: undefined } as const;
const attemptOf = (raw: NonEvmAttempt["raw"]): NonEvmAttempt => ({
  raw,
  txId: `0x${"01".repeat(32)}`,
  fee: 1n,
  madeAtMs: 1,
});
/** Made from what all honest endpoints show. */
const genuine = attemptOf("0x01");
/** Made from what only the endpoint shows that prepared it. */
const invented = attemptOf("0xff");

interface Behavior {
  readonly prepares?: NonEvmAttempt | Error;
  readonly refusal?: string;
  readonly isDown?: boolean;
}

async function chainOf(behaviors: readonly Behavior[], quorum = Math.floor(behaviors.length / 2) + 1) {
  const connections = behaviors.map(({ prepares = genuine, refusal, isDown }) => {
    const answer = async <T>(value: T | Error): Promise<T> => {
      if (isDown === true) throw down;
      if (value instanceof Error) throw value;
      return await Promise.resolve(value);
    };
    const paying: Partial<PayingConnection> = {
      prepare: async () => await answer(prepares),
      isCurrent: async ({ raw }) => await answer(raw === genuine.raw || prepares === invented),
      refusalOf: async () => await answer(refusal),
    };
    return { ...paying, withKey: () => paying } as unknown as OpenConnection;
  });
  const order = createEndpointOrder(
    behaviors.map((_, at) => `node${at}`),
    () => 0,
  );
  const together = connectedTogether(connections as unknown as [OpenConnection], order, {
    quorum,
    onDisagreement: () => undefined,
    now: () => 0,
  });
  const paying = await together.withKey(`0x${"01".repeat(32)}`);
  return { paying, prepared: async () => await paying.prepare(payment, [], []) };
}

const lies: Behavior = { prepares: invented };
const hides: Behavior = { prepares: short };
const silent: Behavior = { isDown: true };

test.each<[string, readonly Behavior[]]>([
  ["all are honest", [{}, {}, {}]],
  ["the first hides what the solver holds", [hides, {}, {}]],
  ["the first hides it, and the second is silent", [hides, silent, {}, {}, {}]],
  ["the last does not show what it was made from", [{}, {}, lies]],
  ["the first is silent", [silent, {}, {}]],
  ["a single one prepares it", [{}]],
])("a payment is signed when a quorum shows what it was made from: %s", async (_, behaviors) => {
  expect(await (await chainOf(behaviors)).prepared()).toEqual(genuine);
});

test.each<[string, readonly Behavior[]]>([
  ["of three, the first invents it", [lies, {}, {}]],
  ["of three, the first invents it, and another one is silent", [lies, {}, silent]],
  ["of two, the first invents it", [lies, {}]],
])("a payment made from what one endpoint invents is not signed: %s", async (_, behaviors) => {
  await expect((await chainOf(behaviors)).prepared()).rejects.toBeInstanceOf(RpcFault);
});

test("after a quorum did not show what a payment was made from, another endpoint prepares it", async () => {
  const { prepared } = await chainOf([lies, {}, {}]);
  await expect(prepared()).rejects.toMatchObject({ kind: "inconsistent" });
  expect(await prepared()).toEqual(genuine);
});

test("a payment that no endpoint can prepare fails for insufficient balance", async () => {
  await expect((await chainOf([hides, hides, silent])).prepared()).rejects.toBe(short);
});

test.each<[string, readonly Behavior[], string | undefined]>([
  ["all refuse it", [{ refusal: "frozen" }, { refusal: "frozen" }, { refusal: "frozen" }], "frozen"],
  ["two of three refuse it", [{ refusal: "frozen" }, {}, { refusal: "is frozen" }], "frozen"],
  ["the first invents it", [{ refusal: "frozen" }, {}, {}], undefined],
  ["the last invents it", [{}, {}, { refusal: "frozen" }], undefined],
  ["a single one refuses it", [{ refusal: "frozen" }], "frozen"],
])("a quorum refuses a recipient: %s", async (_, behaviors, expected) => {
  expect(await (await chainOf(behaviors)).paying.refusalOf(payment)).toBe(expected);
});

test("a recipient that only one of two endpoints refuses is neither refused nor paid", async () => {
  const { paying } = await chainOf([{ refusal: "frozen" }, {}]);
  await expect(paying.refusalOf(payment)).rejects.toMatchObject({ kind: "inconsistent" });
});
