import {
  encodeHyperliquidAction,
  exchangeNonceWindow,
  exchangeSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  type Address,
  type Hex32,
  type HyperliquidAction,
} from "@causeway/domain";
import { expect, test } from "vitest";
import { rememberedFacts } from "../evm/remembered-facts.ts";
import { RpcFault } from "@causeway/families";
import {
  INDEX_LAG_MS,
  readWithdrawal,
  type ExchangeTransaction,
  type LedgerPage,
  type LedgerTransfer,
  type UnknownEntry,
} from "@causeway/families/hyperliquid";
import type { ExchangeRpc } from "./rpc.ts";
import { searchExecution } from "./withdrawal-search.ts";

const depository: Address = "0x00000000000000000000000000000000000000d1";
const friend: Address = "0x00000000000000000000000000000000000000a2";
const hash: Hex32 = `0x${"88".repeat(32)}`;
const NONCE = 1_763_761_234_567n;
const { closesAt } = exchangeNonceWindow(NONCE);

const rules = {
  network: "Mainnet",
  usdcTokenId: MAINNET_USDC_TOKEN_ID,
  decimalsOf: () => undefined,
  depositories: [depository],
  profile: exchangeSigningProfiles.hyperliquid,
};
const action: HyperliquidAction = {
  type: "UsdSend",
  chain: "Mainnet",
  destination: friend,
  amount: "12.5",
  time: NONCE,
};
const payload = readWithdrawal(encodeHyperliquidAction(action), rules);
if ("refusal" in payload) throw new Error(payload.refusal);
const withdrawal = payload;

const executed: ExchangeTransaction = {
  hash,
  time: closesAt,
  block: 7n,
  user: depository,
  error: undefined,
  action,
  isOpaque: false,
};
const entry: LedgerTransfer = {
  hash,
  time: closesAt,
  kind: "usdSend",
  user: depository,
  destination: friend,
  amount: "12.5",
  nonce: undefined,
};

/**
 * Hyperliquid at this time, with what its index has reported by then; the explorer's newest transactions are
 * unrelated.
 */
function anExchange(
  now: bigint,
  indexed: readonly LedgerTransfer[],
  {
    unknown = [],
    transaction = executed,
  }: Partial<{
    unknown: readonly UnknownEntry[];
    transaction: ExchangeTransaction;
  }> = {},
): ExchangeRpc {
  const answers: Partial<ExchangeRpc> = {
    clock: async () => await Promise.resolve(now),
    transactionsOf: async () => await Promise.resolve([]),
    transaction: async () => await Promise.resolve(transaction),
    ledger: async (_, from, to) => {
      const transfers = indexed.filter(({ time }) => time >= from && time <= to);
      return await Promise.resolve({ size: transfers.length, transfers, unknown });
    },
  };
  return answers as ExchangeRpc;
}

test("does not cache what an index reported before its delay was over", async () => {
  const knownPages = rememberedFacts<LedgerPage>({ entries: 100, bytes: 1e6, sizeOf: () => 1 });
  const look = async (rpc: ExchangeRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined, knownPages)).kind;
  // The last block that could contain it exists, but the index has not reached it.
  expect(await look(anExchange(closesAt + 1n, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, [entry]))).toBe("executed");
});

test("a withdrawal is over only once the whole window was reported, after the maximum delay of indexes, without its transfer", async () => {
  const look = async (rpc: ExchangeRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined)).kind;
  expect(await look(anExchange(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, []))).toBe("over");
  // To another recipient, or another amount: other payments of the depository.
  const others = [
    { ...entry, destination: depository },
    { ...entry, amount: "12.51" },
  ];
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, others))).toBe("over");
});

const afterwards = closesAt + INDEX_LAG_MS + 1n;
const opaque: ExchangeTransaction = { ...executed, action: undefined, isOpaque: true };
/** Such a transfer with a future name. */
const renamed: UnknownEntry = {
  hash,
  time: closesAt,
  type: "usdTransfer",
  user: depository,
  destination: friend,
};
const search = async (rpc: ExchangeRpc) => await searchExecution(rpc, withdrawal, rules, undefined);

test("checks the transaction of a transfer with an unknown name, and never skips it", async () => {
  const found = anExchange(afterwards, [], { unknown: [renamed] });
  expect(await search(found)).toMatchObject({ kind: "executed", transactionId: hash });
  const unnamed = { ...renamed, user: undefined, destination: undefined };
  expect((await search(anExchange(afterwards, [], { unknown: [unnamed] }))).kind).toBe("executed");
  const another = { ...executed, action: { ...action, amount: "1" } };
  expect((await search(anExchange(afterwards, [], { unknown: [renamed], transaction: another }))).kind).toBe(
    "over",
  );
});

test("while an action is unreadable, a withdrawal is neither executed nor expired", async () => {
  for (const [transfers, unknown] of [
    [[entry], []],
    [[{ ...entry, kind: "sendAsset", nonce: NONCE }], []],
    [[], [renamed]],
  ] as const)
    await expect(search(anExchange(afterwards, transfers, { unknown, transaction: opaque }))).rejects.toThrow(
      RpcFault,
    );
  // It failed, so it moved nothing.
  const failed = { ...opaque, error: "insufficient margin" };
  expect((await search(anExchange(afterwards, [entry], { transaction: failed }))).kind).toBe("over");
});

test("a withdrawal expires despite unknown entries sent by others", async () => {
  const incoming = { ...renamed, user: friend, destination: depository };
  expect((await search(anExchange(afterwards, [], { unknown: [incoming], transaction: opaque }))).kind).toBe(
    "over",
  );
});

test("finds an execution in a ledger with a crowded block time, and never expires a withdrawal there", async () => {
  const dustTransfers = Array.from({ length: 500 }, (): LedgerTransfer => ({
    ...entry,
    time: NONCE,
    user: friend,
    destination: depository,
    amount: "0.00000001",
  }));
  expect(await search(anExchange(afterwards, [...dustTransfers, entry]))).toMatchObject({
    kind: "executed",
    transactionId: hash,
  });
  expect((await search(anExchange(afterwards, dustTransfers))).kind).toBe("pending");
});

test("a withdrawal is not over if a fault left part of a ledger unread", async () => {
  const others = Array.from({ length: 400 }, (_, at): LedgerTransfer => {
    return { ...entry, user: friend, destination: depository, time: NONCE + BigInt(at) * 60_000n };
  });
  let whole = 0;
  const counted = anExchange(afterwards, others);
  await search({
    ...counted,
    ledger: async (...range) => {
      whole += 1;
      return await counted.ledger(...range);
    },
  });
  expect(whole).toBeGreaterThan(2);
  for (let faultAt = 1; faultAt <= whole; faultAt++) {
    let requests = 0;
    const faulty: ExchangeRpc = {
      ...counted,
      ledger: async (...range) => {
        requests += 1;
        if (requests === faultAt)
          throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429: " });
        return await counted.ledger(...range);
      },
    };
    await expect(search(faulty)).rejects.toThrow(RpcFault);
  }
});
