import { expect, test } from "vitest";
import {
  RpcFault,
  type ConfiguredChain,
  type Evidence,
  type EvidenceSource,
  type TransactionDeposits,
  type WithdrawalAnswer,
} from "@causeway/families";
import { quorumEvidence, type Disagreement } from "./rpc-quorum.ts";

type Deposits = Evidence<TransactionDeposits>;
type Withdrawal = Evidence<WithdrawalAnswer>;

const chain: ConfiguredChain = {
  name: "base",
  vmType: "ethereum-vm",
  rpcUrls: ["http://a", "http://b", "http://c"],
  rpcQuorum: 2,
  depository: "0xd0",
  additionalDepositories: [],
  hubChainId: "8453",
  evm: undefined,
};

const seen = (timestamp: bigint): Deposits => ({
  kind: "final",
  value: { depository: "0xd0", deposits: [], timestamp },
});
/** The same facts, with fields in another order. */
const seenOtherwise = (timestamp: bigint): Deposits => ({
  value: { timestamp, deposits: [], depository: "0xd0" },
  kind: "final",
});
const withdrawal = (status: WithdrawalAnswer["status"]): Withdrawal => ({
  kind: "final",
  value: {
    withdrawalId: "0x1d",
    depository: "0xd0",
    status,
    recipient: "0xa1",
    currency: "0x00",
    amount: 1n,
  },
});
const absent = { kind: "absent" } as const;
const young = { kind: "notFinal", reason: "young", retryAfterSeconds: 9 } as const;
const dead = new RpcFault({ kind: "network", method: "eth_call", reason: "no connection" });
const silent = "silent";

type Reply = Deposits | Withdrawal | RpcFault | typeof silent;

function source(reply: Reply, afterMs = 0): EvidenceSource {
  const answer = async (): Promise<never> => {
    if (reply === silent) return await new Promise<never>(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (reply instanceof RpcFault) throw reply;
    return reply as never;
  };
  return { chain, deposits: answer, payments: answer, withdrawal: answer, close: async () => undefined };
}

function asked(
  agreeing: number,
  ...replies: (Reply | EvidenceSource)[]
): { source: EvidenceSource; disagreements: Disagreement[] } {
  const disagreements: Disagreement[] = [];
  const sources = replies.map((one) => (typeof one === "object" && "deposits" in one ? one : source(one)));
  const options = {
    agreeing,
    retryAfterSeconds: 2,
    onDisagreement: (one: Disagreement) => disagreements.push(one),
  };
  return { source: quorumEvidence(chain, sources, options), disagreements };
}

test("answers as soon as enough endpoints agree, even if others are down or silent", async () => {
  expect(await asked(2, seen(1n), dead, seenOtherwise(1n)).source.deposits("0x")).toEqual(seen(1n));
  expect(await asked(2, silent, seen(1n), seen(1n)).source.deposits("0x")).toEqual(seen(1n));
});

test("returns the newest final block of enough endpoints, and throws if too few answer", async () => {
  const at = (height: bigint | RpcFault): EvidenceSource => ({
    ...source(silent),
    newestFinal: async () => {
      if (height instanceof RpcFault) throw height;
      return { height, timestamp: height * 2n };
    },
  });
  // An endpoint that is ahead, or dead, does not decide the newest final block.
  expect(await asked(2, at(7n), at(900n), at(6n)).source.newestFinal?.()).toEqual({
    height: 7n,
    timestamp: 14n,
  });
  expect(await asked(2, at(7n), at(dead), at(6n)).source.newestFinal?.()).toEqual({
    height: 6n,
    timestamp: 12n,
  });
  await expect(asked(2, at(dead), at(dead), at(6n)).source.newestFinal?.()).rejects.toBe(dead);
  expect(asked(2, source(silent), source(silent)).source.newestFinal).toBeUndefined();
});

test("an endpoint without the data does not disagree, and decides only if no other has the data", async () => {
  const blind: Deposits = { kind: "refuted", reason: "some logs are missing", ofEndpoint: true };
  const { source: one, disagreements } = asked(2, blind, seen(1n), seen(1n));
  expect(await one.deposits("0x")).toEqual(seen(1n));
  expect(disagreements).toEqual([]);
  expect(await asked(2, seen(1n), blind, blind).source.deposits("0x")).toMatchObject({ kind: "notFinal" });
  expect(await asked(2, blind, blind, dead).source.deposits("0x")).toEqual(blind);
});

test("throws the fault of the others if too few answer", async () => {
  await expect(asked(2, seen(1n), dead, dead).source.deposits("0x")).rejects.toBe(dead);
  await expect(asked(3, seen(1n), seen(1n), dead).source.deposits("0x")).rejects.toBe(dead);
});

test("reports contradicting final answers as a fault", async () => {
  for (const [one, other] of [
    [seen(1n), seen(2n)],
    [seen(1n), { kind: "refuted", reason: "transaction reverted" } as const],
    [withdrawal("executed"), withdrawal("expired")],
  ] as const) {
    const { source: quorum, disagreements } = asked(2, one, other, silent);
    await expect(quorum.deposits("0x")).rejects.toMatchObject({ kind: "inconsistent", retryable: true });
    expect(disagreements).toHaveLength(1);
    expect(disagreements[0]?.answers.filter((answer) => answer !== undefined)).toHaveLength(2);
  }
});

test("reports an endpoint that contradicts after the others agreed", async () => {
  const { source: quorum, disagreements } = asked(2, seen(1n), seen(1n), source(seen(2n), 20));
  expect(await quorum.deposits("0x")).toEqual(seen(1n));
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(disagreements).toMatchObject([{ chain: "base", question: "deposits" }]);
});

test("waits for lagging endpoints, which contradict nothing", async () => {
  for (const behind of [absent, young]) {
    const { source: quorum, disagreements } = asked(2, seen(1n), behind, behind);
    expect(await quorum.deposits("0x")).toMatchObject({ kind: "notFinal" });
    expect(disagreements).toEqual([]);
  }
  expect(await asked(2, absent, seen(1n), seen(1n)).source.deposits("0x")).toEqual(seen(1n));
  expect(
    await asked(2, withdrawal("pending"), withdrawal("executed"), dead).source.withdrawal("0x", undefined),
  ).toMatchObject({ kind: "notFinal" });
});

test("returns absent, pending or not final if all endpoints report it", async () => {
  expect(await asked(2, absent, absent, dead).source.deposits("0x")).toEqual(absent);
  expect(await asked(2, young, young, dead).source.deposits("0x")).toEqual(young);
  expect(
    await asked(2, withdrawal("pending"), withdrawal("pending"), dead).source.withdrawal("0x", undefined),
  ).toEqual(withdrawal("pending"));
});

test("a single absent among faults does not prove absence", async () => {
  await expect(asked(2, absent, dead, dead).source.deposits("0x")).rejects.toBe(dead);
});

test("refuses a quorum of zero or of more than all endpoints", () => {
  expect(() => asked(4, absent, absent, absent)).toThrow(RangeError);
  expect(() => asked(0, absent)).toThrow(RangeError);
  expect(() => asked(1.5, absent, absent)).toThrow(RangeError);
});
