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
import type { ExchangeTransaction, LedgerPage, LedgerTransfer } from "./answers.ts";
import { INDEX_LAG_MS } from "./finality.ts";
import type { ExchangeRpc } from "./rpc.ts";
import { searchExecution } from "./withdrawal-search.ts";
import { readWithdrawal } from "./withdrawals.ts";

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

/** An exchange with such a clock, and what its index has told of by then; its explorer's newest transactions are others. */
function anExchange(now: bigint, indexed: readonly LedgerTransfer[]): ExchangeRpc {
  const answers: Partial<ExchangeRpc> = {
    clock: async () => await Promise.resolve(now),
    transactionsOf: async () => await Promise.resolve([]),
    transaction: async () => await Promise.resolve(executed),
    ledger: async (_, from, to) => {
      const transfers = indexed.filter(({ time }) => time >= from && time <= to);
      return await Promise.resolve({ size: transfers.length, transfers });
    },
  };
  return answers as ExchangeRpc;
}

test("what an index told before its delay was over is not what it told afterwards", async () => {
  const told = rememberedFacts<LedgerPage>({ entries: 100, bytes: 1e6, sizeOf: () => 1 });
  const look = async (rpc: ExchangeRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined, told)).kind;
  // The last block that could hold it is over, and the index has not come to it.
  expect(await look(anExchange(closesAt + 1n, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, [entry]))).toBe("executed");
});

test("it is over only once the whole window was told with all the delay that indexes have, and holds no such transfer", async () => {
  const look = async (rpc: ExchangeRpc): Promise<string> =>
    (await searchExecution(rpc, withdrawal, rules, undefined)).kind;
  expect(await look(anExchange(closesAt + INDEX_LAG_MS, []))).toBe("pending");
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, []))).toBe("over");
  // To somebody else, or another amount: other payments of the depository.
  const others = [
    { ...entry, destination: depository },
    { ...entry, amount: "12.51" },
  ];
  expect(await look(anExchange(closesAt + INDEX_LAG_MS + 1n, others))).toBe("over");
});
