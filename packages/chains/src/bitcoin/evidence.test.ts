import { sha256x2 } from "@scure/btc-signer/utils.js";
import { nativeCurrency, NodeRefusal, RpcFault, type ConfiguredChain } from "@causeway/families";
import { expect, test } from "vitest";
import type { RpcTransport } from "../nodes/transport.ts";
import {
  bitcoin,
  FIRST_BLOCKS,
  hexOf,
  idOf,
  type BitcoinOutput,
  type ReportedSpend,
} from "@causeway/families/bitcoin";
import { endpointEvidence } from "../evidence-source.ts";
import { bitcoinEndpoint } from "./evidence.ts";
import {
  aPsbt,
  textOutput,
  depository,
  orderId,
  stranger,
  outputTo,
  recipient,
  solver,
  sourceOf,
  unsigned,
  user,
} from "../../../../test/support/bitcoin-transactions.ts";
import type { SpendHints } from "./explorer.ts";

const facts = { network: "mainnet", confirmations: 6, blockTimeSeconds: 600, esploraUrl: undefined } as const;
const chain: ConfiguredChain = {
  name: "bitcoin",
  vmType: "bitcoin-vm",
  rpcUrls: ["http://127.0.0.1:1"],
  rpcQuorum: 1,
  depository: depository.address,
  additionalDepositories: [],
  hubChainId: "1",
  evm: undefined,
  bitcoin: facts,
};

const TIME = 1_700_000_000;
const header = Buffer.alloc(80, 7);
header.writeUInt32LE(TIME, 68);
const blockHash = idOf(sha256x2(header));
const otherHash = "5a".repeat(32);
const HEIGHT = 700_000;

/**
 * Answers of a node that has these transactions in a block with this many confirmations. `changed` overrides
 * answers.
 */
function aNode(
  transactions: readonly { readonly txid: string; readonly hex: string }[],
  confirmations: number | "waiting",
  overrides: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {},
): RpcTransport {
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    getblockhash: ([height]) => (height === 0 ? FIRST_BLOCKS.mainnet : blockHash),
    getblockheader: ([hash, verbose]) =>
      verbose === false ? header.toString("hex") : { hash, height: HEIGHT, confirmations },
    getrawtransaction: ([txid, verbose]) => {
      const transaction = transactions.find((candidate) => candidate.txid === txid);
      if (transaction === undefined) throw refusal("No such mempool or blockchain transaction.");
      if (verbose === false) return transaction.hex;
      return {
        hex: transaction.hex,
        ...(confirmations !== "waiting" && { blockhash: blockHash, confirmations }),
      };
    },
  };
  return {
    request: async (method, params) => {
      const answer = (overrides[method] ?? answers[method])?.(params);
      return await Promise.resolve(answer === undefined ? answers[method]?.(params) : answer);
    },
    requestBatch: async () => await Promise.reject(new Error("not asked here")),
    close: async () => await Promise.resolve(),
  };
}

function refusal(nodeText: string): NodeRefusal {
  return new NodeRefusal({ method: "getrawtransaction", nodeCode: -5, nodeText, nodeData: undefined });
}

function withSources(spent: readonly BitcoinOutput[], outputs: readonly BitcoinOutput[]) {
  const tx = unsigned(spent, outputs);
  const all = [{ txid: idOf(sha256x2(tx.unsignedTx)), hex: hexOf(tx.unsignedTx) }, ...spent.map(sourceOf)];
  return { txid: all[0]?.txid ?? "", all };
}

const deposit = withSources([outputTo(user, 100n)], [outputTo(depository, 50n), textOutput(orderId)]);
const source = (transport: RpcTransport, hints?: SpendHints) =>
  endpointEvidence(chain, bitcoin, bitcoinEndpoint(transport, facts, hints));

test("a deposit with enough confirmations is final, at the time of its block", async () => {
  expect(await source(aNode(deposit.all, 6)).deposits(deposit.txid)).toEqual({
    kind: "final",
    value: {
      depository: depository.address,
      height: 700_000n,
      timestamp: BigInt(TIME),
      deposits: [
        {
          index: "1",
          depositor: user.address,
          currency: nativeCurrency("bitcoin-vm"),
          amount: 50n,
          depositId: orderId,
        },
      ],
    },
  });
});

test.each([
  ["one less than enough", 5, 600],
  ["none", 0, 3_600],
  ["an orphaned block", -1, 3_600],
] as const)("with %s it is not final yet", async (_, confirmations, retryAfterSeconds) => {
  expect(await source(aNode(deposit.all, confirmations)).deposits(deposit.txid)).toMatchObject({
    kind: "notFinal",
    retryAfterSeconds,
  });
});

test("reports a pending transaction as not final, and an unknown one as absent", async () => {
  expect(await source(aNode(deposit.all, "waiting")).deposits(deposit.txid)).toMatchObject({
    kind: "notFinal",
  });
  expect(await source(aNode([], 6)).deposits(deposit.txid)).toEqual({ kind: "absent" });
});

test.each([
  "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries.",
  "No such mempool or blockchain transaction. Blockchain transactions are still in the process of being indexed.",
])("a node that cannot know decides nothing: %s", async (text) => {
  const blind = aNode([], 6, {
    getrawtransaction: () => {
      throw refusal(text);
    },
  });
  await expect(source(blind).deposits(deposit.txid)).rejects.toThrow(RpcFault);
});

test.each([
  ["the block at its height is another one", { getblockhash: ([h]) => (h === 0 ? undefined : otherHash) }],
  [
    "the bytes are another transaction's",
    {
      getrawtransaction: ([, v]) =>
        v === true ? { hex: unrelated.all[0]?.hex, blockhash: blockHash } : undefined,
    },
  ],
  [
    "what it spends has other bytes",
    { getrawtransaction: ([, v]) => (v === false ? unrelated.all[0]?.hex : undefined) },
  ],
  [
    "header belongs to a different block",
    { getblockheader: ([, v]) => (v === false ? "07".repeat(80) : undefined) },
  ],
  [
    "the standing is another block's",
    {
      getblockheader: ([, v]) => (v === true ? { hash: otherHash, height: 1, confirmations: 9 } : undefined),
    },
  ],
  [
    "the confirmations are no number",
    { getblockheader: ([hash, v]) => (v === true ? { hash, height: 1, confirmations: "9" } : undefined) },
  ],
  ["the answer is null", { getrawtransaction: () => null }],
  ["it serves another network", { getblockhash: ([h]) => (h === 0 ? FIRST_BLOCKS.testnet : undefined) }],
] as const satisfies [string, Record<string, (params: readonly unknown[]) => unknown>][])(
  "concludes nothing and reports a fault of the node when %s",
  async (_, changed) => {
    await expect(source(aNode(deposit.all, 6, changed)).deposits(deposit.txid)).rejects.toThrow(RpcFault);
  },
);

test.each([`0x${deposit.txid}`, deposit.txid.toUpperCase(), deposit.txid.slice(1), ""])(
  "refutes a transaction id in another format: %s",
  async (text) => {
    expect(await source(aNode(deposit.all, 6)).deposits(text)).toMatchObject({ kind: "refuted" });
  },
);

test("returns the amounts and the time of a final payment", async () => {
  const { txid, all } = withSources(
    [outputTo(solver, 100n)],
    [outputTo(recipient, 90n), textOutput(orderId)],
  );
  const question = {
    orderId,
    solver: `0x${"50".repeat(20)}`,
    deadline: TIME,
    extraData: "0x",
    receipts: [{ recipient: recipient.address, currency: nativeCurrency("bitcoin-vm") }],
    calls: [],
  } as const;
  expect(await source(aNode(all, 6)).payments(txid, question)).toEqual({
    kind: "final",
    value: { amounts: [90n], timestamp: BigInt(TIME), height: 700_000n },
  });
  expect(await source(aNode(all, 5)).payments(txid, question)).toMatchObject({ kind: "notFinal" });
});

const spentOutputs = [outputTo(depository, 1_000n)];
const paidOutputs = [outputTo(recipient, 600n), outputTo(depository, 390n)];
const payload = aPsbt(spentOutputs, paidOutputs);
const ownTransaction = withSources(spentOutputs, paidOutputs);
const rivalTransaction = withSources(spentOutputs, [outputTo(stranger, 990n)]);
const unrelated = withSources([outputTo(stranger, 5n)], [outputTo(user, 4n)]);

const explorer = (spend: ReportedSpend): SpendHints => ({
  spendOf: async () => await Promise.resolve(spend),
  close: async () => await Promise.resolve(),
});

async function statusOf(transport: RpcTransport, hints?: SpendHints, hint?: string): Promise<string> {
  const evidence = await source(transport, hints).withdrawal(payload, hint);
  return evidence.kind === "final" ? evidence.value.status : evidence.kind;
}

test("a withdrawal is executed once its own transaction is final, without an explorer", async () => {
  expect(await statusOf(aNode(ownTransaction.all, 6))).toBe("executed");
  expect(await statusOf(aNode(ownTransaction.all, 5))).toBe("pending");
  expect(await statusOf(aNode(ownTransaction.all, "waiting"))).toBe("pending");
  expect(await source(aNode(ownTransaction.all, 6)).withdrawal(payload, undefined)).toMatchObject({
    value: { depository: depository.address, recipient: recipient.address, amount: 610n },
  });
});

test("expires a withdrawal once another transaction that spends its input is final, and not before", async () => {
  const reported = explorer({ txid: rivalTransaction.txid, isConfirmed: true });
  expect(await statusOf(aNode(rivalTransaction.all, 6), reported)).toBe("expired");
  expect(await statusOf(aNode(rivalTransaction.all, 1), reported)).toBe("pending");
  expect(await statusOf(aNode(rivalTransaction.all, -1), reported)).toBe("pending");
  expect(await statusOf(aNode(rivalTransaction.all, "waiting"), reported)).toBe("pending");
  // The caller may name the transaction.
  expect(await statusOf(aNode(rivalTransaction.all, 6), undefined, rivalTransaction.txid)).toBe("expired");
});

test("an explorer alone decides nothing", async () => {
  expect(
    await statusOf(
      aNode([...spentOutputs.map(sourceOf), ...unrelated.all], 6),
      explorer({ txid: unrelated.txid, isConfirmed: true }),
    ),
  ).toBe("pending");
  expect(
    await statusOf(
      aNode(spentOutputs.map(sourceOf), 6),
      explorer({ txid: rivalTransaction.txid, isConfirmed: false }),
    ),
  ).toBe("pending");
  await expect(
    statusOf(
      aNode(spentOutputs.map(sourceOf), 6),
      explorer({ txid: rivalTransaction.txid, isConfirmed: true }),
    ),
  ).rejects.toThrow(RpcFault);
  // A node that hides a spend: the withdrawal stays pending, or is executed if its own transaction is final.
  expect(await statusOf(aNode(rivalTransaction.all, 6), explorer(undefined))).toBe("pending");
  expect(
    await statusOf(
      aNode(ownTransaction.all, 6),
      explorer({ txid: rivalTransaction.txid, isConfirmed: true }),
    ),
  ).toBe("executed");
});

test("throws a fault if the explorer fails", async () => {
  const broken: SpendHints = {
    spendOf: async () =>
      await Promise.reject(new RpcFault({ kind: "network", method: "outspend", reason: "gone" })),
    close: async () => await Promise.resolve(),
  };
  await expect(statusOf(aNode(rivalTransaction.all, 6), broken)).rejects.toThrow(RpcFault);
});

/** Counts the node's requests. */
function counting(transport: RpcTransport) {
  let [requests, inFlight, maxInFlight] = [0, 0, 0];
  const request: RpcTransport["request"] = async (...question) => {
    requests += 1;
    maxInFlight = Math.max(maxInFlight, (inFlight += 1));
    await new Promise(setImmediate);
    try {
      return await transport.request(...question);
    } finally {
      inFlight -= 1;
    }
  };
  return { transport: { ...transport, request }, asked: () => requests, maxInFlight: () => maxInFlight };
}

/** Outputs of which one pays the depository and the others the user. */
const crowd = (count: number): BitcoinOutput[] =>
  Array.from({ length: count }, (_, index) =>
    outputTo(index === 0 ? depository : user, 1_000n + BigInt(index)),
  );

test("does not read spent outputs of a transaction that neither pays a depository nor carries the order id", async () => {
  const { txid, all } = withSources(crowd(200).slice(1), [outputTo(stranger, 50n)]);
  const node = counting(aNode(all, 6));
  expect(await source(node.transport).deposits(txid)).toMatchObject({ value: { deposits: [] } });
  const question = {
    orderId,
    solver: `0x${"50".repeat(20)}`,
    deadline: TIME,
    extraData: "0x",
    receipts: [],
    calls: [],
  } as const;
  expect(await source(node.transport).payments(txid, question)).toMatchObject({ kind: "refuted" });
  expect(node.asked()).toBeLessThan(15);
});

test("reads the outputs that a withdrawal spends a few at a time", async () => {
  const spent = crowd(300);
  const node = counting(aNode(spent.map(sourceOf), 6));
  const paidOut = aPsbt(spent, [outputTo(recipient, 600n)]);
  expect(await source(node.transport).withdrawal(paidOut, undefined)).toMatchObject({
    value: { status: "pending" },
  });
  expect(node.maxInFlight()).toBeLessThanOrEqual(16);
});

test("refuses a withdrawal with more inputs than a transaction can have, without any reads", async () => {
  const node = counting(aNode([], 6));
  expect(await source(node.transport).withdrawal(aPsbt(crowd(2_000), paidOutputs), undefined)).toMatchObject({
    kind: "refuted",
    reason: "withdrawal spends more outputs than nodes relay in one transaction",
  });
  expect(node.asked()).toBe(0);
});

test("asks the explorer about a few inputs at a time, and stops once one decides the outcome", async () => {
  const spent = crowd(100);
  const rivalOfFirst = withSources(spent.slice(0, 1), [outputTo(stranger, 990n)]);
  let [requests, inFlight, maxInFlight] = [0, 0, 0];
  const hints: SpendHints = {
    spendOf: async () => {
      requests += 1;
      maxInFlight = Math.max(maxInFlight, (inFlight += 1));
      await new Promise(setImmediate);
      inFlight -= 1;
      return { txid: rivalOfFirst.txid, isConfirmed: true };
    },
    close: async () => await Promise.resolve(),
  };
  const node = aNode([...spent.map(sourceOf), ...rivalOfFirst.all], 6);
  const paidOut = aPsbt(spent, [outputTo(recipient, 600n)]);
  expect(await source(node, hints).withdrawal(paidOut, undefined)).toMatchObject({
    value: { status: "expired" },
  });
  expect(maxInFlight).toBeLessThanOrEqual(8);
  expect(requests).toBeLessThanOrEqual(8);
});

test("resumes reading a deposit with many inputs if a question ended early", async () => {
  const manyInputs = withSources(
    Array.from({ length: 300 }, () => outputTo(user, 1_000n)),
    [outputTo(depository, 50_000n), textOutput(orderId)],
  );
  let remaining = 100;
  let readCount = 0;
  const node = aNode(manyInputs.all, 6);
  const slow: RpcTransport = {
    ...node,
    request: async (method, params, options) => {
      if (method === "getrawtransaction" && params[0] !== manyInputs.txid) {
        if (remaining === 0) throw new RpcFault({ kind: "deadline", method, reason: "no whole answer" });
        remaining -= 1;
        readCount += 1;
      }
      return await node.request(method, params, options);
    },
  };
  const evidence = source(slow);
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(evidence.deposits(manyInputs.txid)).rejects.toMatchObject({ kind: "deadline" });
    remaining = 100;
  }
  expect(await evidence.deposits(manyInputs.txid)).toMatchObject({
    kind: "final",
    value: { deposits: [{ amount: 50_000n, depositId: orderId }] },
  });
  expect(readCount).toBe(300);
});
