import { RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import {
  InsufficientInventory,
  type NonEvmAttempt,
  type OpenConnection,
  type PayingConnection,
} from "./non-evm-connection.ts";
import { combineConnections } from "./non-evm-endpoints.ts";

const networkFault = new RpcFault({ kind: "network", method: "call", reason: "refused" });
const shortage = new InsufficientInventory("insufficient solver balance");
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
      if (isDown === true) throw networkFault;
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
    behaviors.map((_, index) => `node${index}`),
    () => 0,
  );
  const connection = combineConnections(connections as unknown as [OpenConnection], order, {
    quorum,
    onDisagreement: () => undefined,
    now: () => 0,
  });
  const paying = await connection.withKey(`0x${"01".repeat(32)}`);
  return { paying, prepare: async () => await paying.prepare(payment, [], []) };
}

const inventing: Behavior = { prepares: invented };
const hiding: Behavior = { prepares: shortage };
const silent: Behavior = { isDown: true };

test.each<[string, readonly Behavior[]]>([
  ["all are honest", [{}, {}, {}]],
  ["the first hides what the solver holds", [hiding, {}, {}]],
  ["the first hides it, and the second is silent", [hiding, silent, {}, {}, {}]],
  ["the last does not show what it was made from", [{}, {}, inventing]],
  ["the first is silent", [silent, {}, {}]],
  ["a single one prepares it", [{}]],
])("a payment is signed when a quorum shows what it was made from: %s", async (_, behaviors) => {
  expect(await (await chainOf(behaviors)).prepare()).toEqual(genuine);
});

test.each<[string, readonly Behavior[]]>([
  ["of three, the first invents it", [inventing, {}, {}]],
  ["of three, the first invents it, and another one is silent", [inventing, {}, silent]],
  ["of two, the first invents it", [inventing, {}]],
])("a payment made from what one endpoint invents is not signed: %s", async (_, behaviors) => {
  await expect((await chainOf(behaviors)).prepare()).rejects.toBeInstanceOf(RpcFault);
});

test("after a quorum did not show what a payment was made from, another endpoint prepares it", async () => {
  const { prepare: prepared } = await chainOf([inventing, {}, {}]);
  await expect(prepared()).rejects.toMatchObject({ kind: "inconsistent" });
  expect(await prepared()).toEqual(genuine);
});

test("a payment that no endpoint can prepare fails for insufficient balance", async () => {
  await expect((await chainOf([hiding, hiding, silent])).prepare()).rejects.toBe(shortage);
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
