import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  addressTopic,
  ERC20_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type TransactionFact,
} from "@causeway/families/evm";
import { NodeRefusal, RpcFault } from "@causeway/families";
import {
  blockReads,
  findAttestedDepository,
  judgeAttestability,
  judgeTogether,
  type Attestability,
  type DepositingTransaction,
} from "./attestable.ts";

const hash: Hex = `0x${"11".repeat(32)}`;
const blockHash: Hex = `0x${"22".repeat(32)}`;
const depository = `0x${"33".repeat(20)}` as const;
const transaction: TransactionFact = {
  hash,
  from: depository,
  to: depository,
  value: 0n,
  input: "0x",
  nonce: 0,
  gasLimit: 16_700_000n,
};

const block = { number: 1n, hash: blockHash };
const blockAnswer = {
  number: "0x1",
  hash: blockHash,
  parentHash: blockHash,
  timestamp: "0x1",
  baseFeePerGas: "0x1",
};

interface Answers {
  /** The node's answer to a log filter. */
  readonly logs: (filter: { address?: unknown }) => unknown;
  readonly receipt?: () => unknown;
  /** The block as returned by the node that returns the logs. */
  readonly lastBlock?: unknown;
}

/** Also records the node's requests. */
function createNode({ logs, receipt = () => null, lastBlock: look = blockAnswer }: Answers) {
  const requests: string[] = [];
  const answer = (method: string, params: readonly unknown[]): unknown => {
    requests.push(method);
    if (method === "eth_getLogs") return logs(params[0] as { address?: unknown });
    return method === "eth_getBlockByNumber" ? look : receipt();
  };
  const transport = {
    request: async (method: string, params: readonly unknown[]) => answer(method, params),
    requestBatch: async (calls: readonly { method: string; params: readonly unknown[] }[]) =>
      calls.map(({ method, params }) => answer(method, params)),
  };
  return { transport, requests };
}

/** Whether a transaction is attestable in one execution. */
async function attestabilityOf(
  answers: Answers,
  gasLimit = transaction.gasLimit,
): Promise<Attestability | undefined> {
  const judged = { ...transaction, ...(gasLimit !== undefined && { gasLimit }) };
  const { transport } = createNode(answers);
  const rules = { depository, attestation: {} };
  return await verdictOn(
    judged,
    async (depositing) => await judgeAttestability(transport, rules, depositing),
  );
}

async function verdictOn<Verdict>(
  judged: TransactionFact,
  judge: (depositing: DepositingTransaction) => Promise<Verdict>,
): Promise<Verdict | Attestability | undefined> {
  return (await judgeTogether([{ transaction: judged, block }], judge)).get(hash);
}

const transfer = (logIndex: number, txHash = hash) => ({
  address: `0x${"44".repeat(20)}`,
  topics: [TRANSFER_TOPIC, addressTopic(`0x${"55".repeat(20)}`), addressTopic(depository)],
  data: `0x${"1".padStart(64, "0")}`,
  logIndex: `0x${logIndex.toString(16)}`,
  blockNumber: "0x1",
  blockHash,
  transactionHash: txHash,
});
const transfers = (count: number, txHash = hash) =>
  Array.from({ length: count }, (_, index) => transfer(index, txHash));

const logsAre = (logs: readonly unknown[]): Answers => ({
  logs: ({ address }) => (address === undefined ? logs : []),
});
const receiptWith = (logs: readonly unknown[]) => () => ({
  transactionHash: hash,
  blockHash,
  blockNumber: "0x1",
  status: "0x1",
  gasUsed: "0x1",
  effectiveGasPrice: "0x1",
  logs,
});

test("counts the deposits of one transaction, including unlisted tokens", async () => {
  const otherTransfers = transfers(257, `0x${"66".repeat(32)}`);
  expect(await attestabilityOf(logsAre(transfers(256)))).toBe("attestable");
  expect(await attestabilityOf(logsAre(transfers(257)))).toBe("unattestable");
  expect(await attestabilityOf(logsAre([...otherTransfers, transfer(300)])), "of another transaction").toBe(
    "attestable",
  );
});

test("does not count an NFT that was sent to the depository", async () => {
  const nft = (index: number) => ({
    ...transfer(index),
    topics: [...transfer(index).topics, `0x${"1".padStart(64, "0")}`],
  });
  const nfts = Array.from({ length: 257 }, (_, index) => nft(index));
  expect(await attestabilityOf(logsAre([...nfts, transfer(300)]))).toBe("attestable");
});

test("does not count a deposit event without a Transfer, but accepts the block", async () => {
  const event = {
    ...transfer(0),
    address: depository,
    topics: [ERC20_DEPOSIT_TOPIC],
    data: `0x${[
      addressTopic(depository),
      addressTopic(`0x${"44".repeat(20)}`),
      `0x${"1".padStart(64, "0")}`,
      blockHash,
    ]
      .map((word) => word.slice(2))
      .join("")}`,
  };
  const silent: Answers = { logs: ({ address }) => (address === undefined ? [] : [event]) };
  expect(await attestabilityOf(silent)).toBe("attestable");
});

test("rejects the answers of a node that lacks the block, its logs or the receipt", async () => {
  const few = logsAre([transfer(0)]);
  const withoutLogs: Answers = { logs: () => [] };
  await expect(attestabilityOf({ ...few, lastBlock: null })).rejects.toMatchObject({ kind: "inconsistent" });
  const otherBlock = { ...blockAnswer, hash: `0x${"77".repeat(32)}` };
  await expect(attestabilityOf({ ...few, lastBlock: otherBlock })).rejects.toMatchObject({
    kind: "inconsistent",
  });
  await expect(attestabilityOf(withoutLogs), "the deposit's own log is missing").rejects.toMatchObject({
    kind: "inconsistent",
  });
  await expect(attestabilityOf(few, 60_000_000n), "no receipt").rejects.toMatchObject({
    kind: "inconsistent",
  });
});

const method = "eth_getLogs";
const failing = (error: Error) => (): never => {
  throw error;
};
const tooLarge = failing(new RpcFault({ kind: "tooLarge", method, reason: "the answer exceeds its bound" }));

test("reads the transaction's receipt if its block has too many logs about the depository, or the endpoint rejects batches", async () => {
  const nodeText = "query returned more than 10000 results";
  const refused = failing(new NodeRefusal({ method, nodeCode: -32005, nodeText, nodeData: undefined }));
  const unbatched = failing(new RpcFault({ kind: "batchRefused", method, reason: "no batches" }));
  for (const logs of [refused, tooLarge, unbatched]) {
    expect(await attestabilityOf({ logs, receipt: receiptWith(transfers(256)) })).toBe("attestable");
    expect(await attestabilityOf({ logs, receipt: receiptWith(transfers(257)) })).toBe("unattestable");
    expect(await attestabilityOf({ logs, receipt: tooLarge })).toBe("unattestable");
  }
});

test("returns unknown if neither logs nor receipt arrive by the deadline, and throws every other fault", async () => {
  const late = failing(new RpcFault({ kind: "deadline", method, reason: "no whole answer" }));
  expect(await attestabilityOf({ logs: late, receipt: late })).toBe("unknown");
  expect(await attestabilityOf({ logs: late, receipt: late }, 60_000_000n)).toBe("unknown");
  const unreachable = failing(new RpcFault({ kind: "network", method, reason: "no answer" }));
  await expect(attestabilityOf({ logs: unreachable })).rejects.toMatchObject({ kind: "network" });
  await expect(attestabilityOf({ logs: late, receipt: unreachable })).rejects.toMatchObject({
    kind: "network",
  });
  await expect(
    attestabilityOf({ logs: late, receipt: late }, 200_000n),
    "an ordinary transaction",
  ).rejects.toMatchObject({ kind: "deadline" });
});

test("requests the logs of a block once for all of its transactions", async () => {
  const { transport, requests } = createNode(logsAre([transfer(0)]));
  const reads = blockReads(transport, depository);
  const rules = { depository, attestation: {} };
  for (let index = 0; index < 3; index++)
    expect(await judgeAttestability(transport, rules, { transaction, block }, reads)).toBe("attestable");
  expect(requests.filter((requested) => requested === method)).toHaveLength(2);
});

test("requests the time of a block once for all of its transactions", async () => {
  const { transport, requests } = createNode({ logs: () => [], receipt: () => blockAnswer });
  const reads = blockReads(transport, depository);
  const rules = { depository, attestation: { depositPartsSince: 1 } };
  for (let index = 0; index < 3; index++)
    expect(await judgeAttestability(transport, rules, { transaction, block }, reads)).toBe("attestable");
  expect(requests).toEqual(["eth_getBlockByHash"]);
});

test("finds the attested depository in the receipt if a former one may have received something", async () => {
  const current = `0x${"88".repeat(20)}` as const;
  const findAttested = async (receipt: () => unknown, attestation = {}, gasLimit = 16_700_000n) => {
    const { transport } = createNode({ logs: () => [], receipt });
    return await verdictOn(
      { ...transaction, gasLimit },
      async (depositing) =>
        await findAttestedDepository(
          transport,
          { depositories: [current, depository], attestation },
          depositing,
        ),
    );
  };
  expect(await findAttested(receiptWith(transfers(256)))).toEqual({ depository });
  expect(await findAttested(receiptWith(transfers(257)))).toBe("unattestable");
  expect(await findAttested(receiptWith(transfers(257)), { depositPartsSince: 0 })).toEqual({ depository });
  expect(await findAttested(tooLarge)).toBe("unattestable");
  const late = failing(new RpcFault({ kind: "deadline", method, reason: "no whole answer" }));
  expect(await findAttested(late)).toBe("unknown");
  await expect(findAttested(late, {}, 200_000n), "an ordinary transaction").rejects.toMatchObject({
    kind: "deadline",
  });
  await expect(findAttested(() => null)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("judges a transaction again by itself if its answer was late in a group", async () => {
  const late = new RpcFault({ kind: "deadline", method, reason: "no whole answer" });
  const otherHash: Hex = `0x${"99".repeat(32)}`;
  const group = [transaction, { ...transaction, hash: otherHash, gasLimit: 200_000n }].map((fact) => ({
    transaction: fact,
    block,
  }));
  let judgedCount = 0;
  const createJudge = (isLate: (count: number) => boolean) => {
    judgedCount = 0;
    return async (): Promise<"attestable"> => {
      judgedCount += 1;
      if (isLate(judgedCount)) throw late;
      return "attestable";
    };
  };
  const both = [
    [hash, "attestable"],
    [otherHash, "attestable"],
  ];
  const lateTogether = createJudge((count) => count <= 2);
  expect([...(await judgeTogether(group, lateTogether))]).toEqual(both);
  expect(judgedCount).toBe(4);
  const neverLate = createJudge(() => false);
  expect([...(await judgeTogether(group, neverLate))]).toEqual(both);
  expect(judgedCount).toBe(2);
  const alwaysLate = createJudge(() => true);
  expect([...(await judgeTogether(group.slice(0, 1), alwaysLate))]).toEqual([[hash, "unknown"]]);
  expect(judgedCount, "a single transaction is not judged again").toBe(1);
  await expect(judgeTogether(group, alwaysLate), "an ordinary transaction").rejects.toBe(late);
});
