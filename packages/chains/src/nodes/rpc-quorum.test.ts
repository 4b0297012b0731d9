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

const finalDeposits = (timestamp: bigint): Deposits => ({
  kind: "final",
  value: { depository: "0xd0", deposits: [], timestamp },
});
/** The same facts, with fields in another order. */
const reorderedDeposits = (timestamp: bigint): Deposits => ({
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
const notFinal = { kind: "notFinal", reason: "young", retryAfterSeconds: 9 } as const;
const unreachable = new RpcFault({ kind: "network", method: "eth_call", reason: "no connection" });
const silent = "silent";

type Reply = Deposits | Withdrawal | RpcFault | typeof silent;

function sourceOf(reply: Reply, afterMs = 0): EvidenceSource {
  const answer = async (): Promise<never> => {
    if (reply === silent) return await new Promise<never>(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (reply instanceof RpcFault) throw reply;
    return reply as never;
  };
  return { chain, deposits: answer, payments: answer, withdrawal: answer, close: async () => undefined };
}

function createQuorum(
  quorum: number,
  ...replies: (Reply | EvidenceSource)[]
): { source: EvidenceSource; disagreements: Disagreement[] } {
  const disagreements: Disagreement[] = [];
  const sources = replies.map((reply) =>
    typeof reply === "object" && "deposits" in reply ? reply : sourceOf(reply),
  );
  const options = {
    quorum,
    retryAfterSeconds: 2,
    onDisagreement: (disagreement: Disagreement) => disagreements.push(disagreement),
  };
  return { source: quorumEvidence(chain, sources, options), disagreements };
}

test("answers as soon as enough endpoints agree, even if others are down or silent", async () => {
  expect(
    await createQuorum(2, finalDeposits(1n), unreachable, reorderedDeposits(1n)).source.deposits("0x"),
  ).toEqual(finalDeposits(1n));
  expect(await createQuorum(2, silent, finalDeposits(1n), finalDeposits(1n)).source.deposits("0x")).toEqual(
    finalDeposits(1n),
  );
});

test("returns the newest final block of enough endpoints, and throws if too few answer", async () => {
  const headSource = (height: bigint | RpcFault): EvidenceSource => ({
    ...sourceOf(silent),
    newestFinal: async () => {
      if (height instanceof RpcFault) throw height;
      return { height, timestamp: height * 2n };
    },
  });
  // An endpoint that is ahead, or dead, does not decide the newest final block.
  expect(
    await createQuorum(2, headSource(7n), headSource(900n), headSource(6n)).source.newestFinal?.(),
  ).toEqual({
    height: 7n,
    timestamp: 14n,
  });
  expect(
    await createQuorum(2, headSource(7n), headSource(unreachable), headSource(6n)).source.newestFinal?.(),
  ).toEqual({
    height: 6n,
    timestamp: 12n,
  });
  await expect(
    createQuorum(2, headSource(unreachable), headSource(unreachable), headSource(6n)).source.newestFinal?.(),
  ).rejects.toBe(unreachable);
  expect(createQuorum(2, sourceOf(silent), sourceOf(silent)).source.newestFinal).toBeUndefined();
});

test("an endpoint without the data does not disagree, and decides only if no other has the data", async () => {
  const blind: Deposits = { kind: "refuted", reason: "some logs are missing", ofEndpoint: true };
  const { source: quorumSource, disagreements } = createQuorum(
    2,
    blind,
    finalDeposits(1n),
    finalDeposits(1n),
  );
  expect(await quorumSource.deposits("0x")).toEqual(finalDeposits(1n));
  expect(disagreements).toEqual([]);
  expect(await createQuorum(2, finalDeposits(1n), blind, blind).source.deposits("0x")).toMatchObject({
    kind: "notFinal",
  });
  expect(await createQuorum(2, blind, blind, unreachable).source.deposits("0x")).toEqual(blind);
});

test("throws the fault of the others if too few answer", async () => {
  await expect(
    createQuorum(2, finalDeposits(1n), unreachable, unreachable).source.deposits("0x"),
  ).rejects.toBe(unreachable);
  await expect(
    createQuorum(3, finalDeposits(1n), finalDeposits(1n), unreachable).source.deposits("0x"),
  ).rejects.toBe(unreachable);
});

test("reports contradicting final answers as a fault", async () => {
  for (const [firstAnswer, secondAnswer] of [
    [finalDeposits(1n), finalDeposits(2n)],
    [finalDeposits(1n), { kind: "refuted", reason: "transaction reverted" } as const],
    [withdrawal("executed"), withdrawal("expired")],
  ] as const) {
    const { source: quorumSource, disagreements } = createQuorum(2, firstAnswer, secondAnswer, silent);
    await expect(quorumSource.deposits("0x")).rejects.toMatchObject({
      kind: "inconsistent",
      retryable: true,
    });
    expect(disagreements).toHaveLength(1);
    expect(disagreements[0]?.answers.filter((answer) => answer !== undefined)).toHaveLength(2);
  }
});

test("reports an endpoint that contradicts after the others agreed", async () => {
  const { source: quorumSource, disagreements } = createQuorum(
    2,
    finalDeposits(1n),
    finalDeposits(1n),
    sourceOf(finalDeposits(2n), 20),
  );
  expect(await quorumSource.deposits("0x")).toEqual(finalDeposits(1n));
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(disagreements).toMatchObject([{ chain: "base", question: "deposits" }]);
});

test("waits for lagging endpoints, which contradict nothing", async () => {
  for (const lagging of [absent, notFinal]) {
    const { source: quorumSource, disagreements } = createQuorum(2, finalDeposits(1n), lagging, lagging);
    expect(await quorumSource.deposits("0x")).toMatchObject({ kind: "notFinal" });
    expect(disagreements).toEqual([]);
  }
  expect(await createQuorum(2, absent, finalDeposits(1n), finalDeposits(1n)).source.deposits("0x")).toEqual(
    finalDeposits(1n),
  );
  expect(
    await createQuorum(2, withdrawal("pending"), withdrawal("executed"), unreachable).source.withdrawal(
      "0x",
      undefined,
    ),
  ).toMatchObject({ kind: "notFinal" });
});

test("returns absent, pending or not final if all endpoints report it", async () => {
  expect(await createQuorum(2, absent, absent, unreachable).source.deposits("0x")).toEqual(absent);
  expect(await createQuorum(2, notFinal, notFinal, unreachable).source.deposits("0x")).toEqual(notFinal);
  expect(
    await createQuorum(2, withdrawal("pending"), withdrawal("pending"), unreachable).source.withdrawal(
      "0x",
      undefined,
    ),
  ).toEqual(withdrawal("pending"));
});

test("a single absent among faults does not prove absence", async () => {
  await expect(createQuorum(2, absent, unreachable, unreachable).source.deposits("0x")).rejects.toBe(
    unreachable,
  );
});

test("refuses a quorum of zero or of more than all endpoints", () => {
  expect(() => createQuorum(4, absent, absent, absent)).toThrow(RangeError);
  expect(() => createQuorum(0, absent)).toThrow(RangeError);
  expect(() => createQuorum(1.5, absent, absent)).toThrow(RangeError);
});
