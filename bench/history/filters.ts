import type {
  HistoryCondition,
  HistoryQuestion,
  HistorySort,
} from "../../apps/api/src/requests/history/request-history.port.ts";
import { NEWEST_MS } from "./store-history.ts";

/**
 * A filter that clients may use alone, and its query. `at` counts up, so that no
 * two queries need to be the same.
 */
export interface FilterCase {
  readonly name: string;
  readonly ask: (facts: StoredFacts, at: number) => Partial<HistoryQuestion>;
}

/** Values that stored requests have. */
export interface StoredFacts {
  readonly rows: ReadonlyArray<{
    readonly requestId: string;
    readonly orderId: string;
    readonly user: string;
    readonly recipient: string;
    readonly depositTx: string;
    readonly fillTx: string | undefined;
    readonly refundTx: string | undefined;
    readonly block: number;
  }>;
}

/** The user and recipient of one in fifty requests, all among the oldest. */
export const FORMERLY_BUSY_ADDRESS = `0x${"ab".repeat(20)}`;
/** The user and recipient of one in twenty requests. */
export const BUSY_ADDRESS = `0x${"aa".repeat(20)}`;

const is = (field: Extract<HistoryCondition, { kind: "is" }>["field"], ...values: readonly string[]) => ({
  conditions: [{ kind: "is", field, values }] as const,
});
const within = (
  range: Extract<HistoryCondition, { kind: "within" }>["range"],
  ends: { readonly min?: bigint; readonly max?: bigint },
) => ({ conditions: [{ kind: "within", range, ...ends }] as const });
const sorted = (sort: HistorySort, isAscending: boolean): Partial<HistoryQuestion> => ({ sort, isAscending });
const rowAt = ({ rows }: StoredFacts, at: number): StoredFacts["rows"][number] => {
  const row = rows[at % rows.length];
  if (row === undefined) throw new Error("invariant violated: no request is stored");
  return row;
};
const tokenAddress = (byte: string): string => `0x${byte.repeat(20)}`;

/** Every documented filter alone, common values and rare ones. */
export const filterCases: readonly FilterCase[] = [
  { name: "none", ask: () => ({}) },
  { name: "id", ask: (facts, at) => is("id", rowAt(facts, at).requestId) },
  { name: "orderId", ask: (facts, at) => is("orderId", rowAt(facts, at).orderId) },
  { name: "user", ask: (facts, at) => is("user", rowAt(facts, at).user) },
  { name: "user (busy)", ask: () => is("user", BUSY_ADDRESS) },
  { name: "user (formerly busy)", ask: () => is("user", FORMERLY_BUSY_ADDRESS) },
  { name: "user (unknown)", ask: () => is("user", tokenAddress("99")) },
  { name: "recipient", ask: (facts, at) => is("recipient", rowAt(facts, at).recipient) },
  { name: "term (address)", ask: (facts, at) => is("term", rowAt(facts, at).user) },
  { name: "term (busy address)", ask: () => is("term", BUSY_ADDRESS) },
  { name: "term (formerly busy address)", ask: () => is("term", FORMERLY_BUSY_ADDRESS) },
  { name: "term (hash)", ask: (facts, at) => is("term", rowAt(facts, at).depositTx) },
  { name: "hash", ask: (facts, at) => is("hash", rowAt(facts, at).fillTx ?? rowAt(facts, at).depositTx) },
  { name: "depositTxHash", ask: (facts, at) => is("depositTxHash", rowAt(facts, at).depositTx) },
  {
    name: "fillTxHash",
    ask: (facts, at) => is("fillTxHash", rowAt(facts, at).fillTx ?? rowAt(facts, at).depositTx),
  },
  {
    name: "refundTxHash",
    ask: (facts, at) => is("refundTxHash", rowAt(facts, at).refundTx ?? rowAt(facts, at).depositTx),
  },
  { name: "depositAddress", ask: (facts, at) => is("depositAddress", rowAt(facts, at).user) },
  { name: "originChainId", ask: () => is("originChainId", "10") },
  { name: "originChainId (rare)", ask: () => is("originChainId", "42161") },
  { name: "destinationChainId", ask: () => is("destinationChainId", "8453") },
  { name: "destinationChainId (rare)", ask: () => is("destinationChainId", "42161") },
  { name: "chainId", ask: () => is("chainId", "1") },
  { name: "chainId (rare)", ask: () => is("chainId", "42161") },
  ...["success", "refund", "failure", "waiting", "pending"].map((status) => ({
    name: `status ${status}`,
    ask: () => is("status", status),
  })),
  { name: "failReason", ask: () => is("failReason", "SLIPPAGE") },
  { name: "failReason (rare)", ask: () => is("failReason", "SOLVER_BALANCE_TOO_LOW") },
  { name: "refundFailReason", ask: () => is("refundFailReason", "AMOUNT_TOO_LOW_TO_REFUND") },
  ...["Bridge", "Crosschain Swap", "Same-chain Swap", "Send", "Wrap", "Unwrap", "Call"].map((type) => ({
    name: `requestType ${type}`,
    ask: () => is("requestType", type),
  })),
  { name: "apiKey", ask: (_facts, at) => is("apiKey", `key-${at % 7}`) },
  {
    name: "apiKey and referrer",
    ask: (_facts, at) => ({
      conditions: [
        ...is("apiKey", `key-${at % 7}`).conditions,
        ...is("referrer", `app-${at % 3}`).conditions,
      ],
    }),
  },
  { name: "currencyInAddress", ask: () => is("currencyInAddress", tokenAddress("c0")) },
  { name: "currencyInAddress (rare)", ask: () => is("currencyInAddress", tokenAddress("4a")) },
  { name: "currencyOutAddress", ask: () => is("currencyOutAddress", tokenAddress("c0")) },
  { name: "currencyOutAddress (rare)", ask: () => is("currencyOutAddress", tokenAddress("4a")) },
  { name: "currencyInSymbol", ask: () => is("currencyInSymbol", "usdc") },
  { name: "currencyInSymbol (rare)", ask: () => is("currencyInSymbol", "rare") },
  { name: "currencyOutSymbol", ask: () => is("currencyOutSymbol", "eth") },
  { name: "currencyOutSymbol (rare)", ask: () => is("currencyOutSymbol", "rare") },
  {
    name: "startTimestamp",
    ask: (_facts, at) => within("createdAt", { min: BigInt(NEWEST_MS - at * 60_000) }),
  },
  {
    name: "endTimestamp",
    ask: (_facts, at) => within("createdAt", { max: BigInt(NEWEST_MS - at * 60_000) }),
  },
  { name: "startBlock", ask: (facts, at) => within("block", { min: BigInt(rowAt(facts, at).block) }) },
  { name: "endBlock", ask: (facts, at) => within("block", { max: BigInt(rowAt(facts, at).block) }) },
  {
    name: "originChainId and endBlock",
    ask: (facts, at) => ({
      conditions: [
        ...is("originChainId", "1").conditions,
        ...within("block", { max: BigInt(rowAt(facts, at).block) }).conditions,
      ],
    }),
  },
  {
    name: "startBlock and endBlock",
    ask: (facts, at) =>
      within("block", { min: BigInt(rowAt(facts, at).block), max: BigInt(rowAt(facts, at).block + 5) }),
  },
  {
    name: "amountUsdMin",
    ask: (_facts, at) => within("amountUsd", { min: BigInt(1_000_003_000 - at * 1_000) }),
  },
  { name: "amountUsdMin (common)", ask: () => within("amountUsd", { min: 100_000_000n }) },
  { name: "amountUsdMax", ask: (_facts, at) => within("amountUsd", { max: BigInt(at * 1_000) }) },
  {
    name: "amountUsdMin and Max",
    ask: (_facts, at) =>
      within("amountUsd", { min: BigInt(at * 1_000_000), max: BigInt(at * 1_000_000 + 1_000_000) }),
  },
  {
    name: "appFeesAmountUsdMin",
    ask: (_facts, at) => within("appFeesAmountUsd", { min: BigInt(1 + at * 4) * 10_000n }),
  },
  { name: "appFeesAmountUsdMax", ask: () => within("appFeesAmountUsd", { max: 1_000_000n }) },
  { name: "fillTimeMin", ask: (_facts, at) => within("fillTime", { min: BigInt(at * 500) }) },
  { name: "fillTimeMax", ask: (_facts, at) => within("fillTime", { max: BigInt(2_000 + at * 500) }) },
  { name: "features fast-fill", ask: () => is("features", "fast-fill") },
  { name: "features execution", ask: () => is("features", "execution") },
  { name: "features origin-swap", ask: () => is("features", "origin-swap") },
  { name: "features calls (none)", ask: () => is("features", "calls") },
  {
    name: "filters",
    ask: (facts, at) => ({
      groups: [is("user", rowAt(facts, at).user).conditions, is("status", "failure").conditions],
    }),
  },
  {
    name: "filters not",
    ask: () => ({
      groups: [
        [{ kind: "is", field: "status", values: ["success"], not: true }],
        [{ kind: "null", field: "currencyInSymbol" }],
      ],
    }),
  },
  { name: "sortBy createdAt asc", ask: () => sorted("createdAt", true) },
  { name: "sortBy updatedAt", ask: () => sorted("updatedAt", false) },
  { name: "sortBy amountUsd", ask: () => sorted("amountUsd", false) },
  { name: "sortBy amountUsd asc", ask: () => sorted("amountUsd", true) },
];

/** A complete query. */
export function questionFor(one: FilterCase, facts: StoredFacts, at: number): HistoryQuestion {
  return {
    conditions: [],
    groups: [],
    sort: "createdAt",
    isAscending: false,
    after: undefined,
    limit: 21,
    ...one.ask(facts, at),
  };
}
