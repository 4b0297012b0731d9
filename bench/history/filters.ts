import type {
  HistoryCondition,
  HistoryQuestion,
  HistorySort,
} from "../../apps/api/src/requests/history/request-history.port.ts";
import { NEWEST_MS } from "./store-history.ts";

/**
 * A filter that clients may use alone, and its query. `run` counts up, so that no
 * two queries need to be the same.
 */
export interface FilterCase {
  readonly name: string;
  readonly query: (facts: StoredFacts, run: number) => Partial<HistoryQuestion>;
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
const rowAt = ({ rows }: StoredFacts, run: number): StoredFacts["rows"][number] => {
  const row = rows[run % rows.length];
  if (row === undefined) throw new Error("invariant violated: no request is stored");
  return row;
};
const tokenAddress = (byte: string): string => `0x${byte.repeat(20)}`;

/** Every documented filter alone, common values and rare ones. */
export const filterCases: readonly FilterCase[] = [
  { name: "none", query: () => ({}) },
  { name: "id", query: (facts, run) => is("id", rowAt(facts, run).requestId) },
  { name: "orderId", query: (facts, run) => is("orderId", rowAt(facts, run).orderId) },
  { name: "user", query: (facts, run) => is("user", rowAt(facts, run).user) },
  { name: "user (busy)", query: () => is("user", BUSY_ADDRESS) },
  { name: "user (formerly busy)", query: () => is("user", FORMERLY_BUSY_ADDRESS) },
  { name: "user (unknown)", query: () => is("user", tokenAddress("99")) },
  { name: "recipient", query: (facts, run) => is("recipient", rowAt(facts, run).recipient) },
  { name: "term (address)", query: (facts, run) => is("term", rowAt(facts, run).user) },
  { name: "term (busy address)", query: () => is("term", BUSY_ADDRESS) },
  { name: "term (formerly busy address)", query: () => is("term", FORMERLY_BUSY_ADDRESS) },
  { name: "term (hash)", query: (facts, run) => is("term", rowAt(facts, run).depositTx) },
  {
    name: "hash",
    query: (facts, run) => is("hash", rowAt(facts, run).fillTx ?? rowAt(facts, run).depositTx),
  },
  { name: "depositTxHash", query: (facts, run) => is("depositTxHash", rowAt(facts, run).depositTx) },
  {
    name: "fillTxHash",
    query: (facts, run) => is("fillTxHash", rowAt(facts, run).fillTx ?? rowAt(facts, run).depositTx),
  },
  {
    name: "refundTxHash",
    query: (facts, run) => is("refundTxHash", rowAt(facts, run).refundTx ?? rowAt(facts, run).depositTx),
  },
  { name: "depositAddress", query: (facts, run) => is("depositAddress", rowAt(facts, run).user) },
  { name: "originChainId", query: () => is("originChainId", "10") },
  { name: "originChainId (rare)", query: () => is("originChainId", "42161") },
  { name: "destinationChainId", query: () => is("destinationChainId", "8453") },
  { name: "destinationChainId (rare)", query: () => is("destinationChainId", "42161") },
  { name: "chainId", query: () => is("chainId", "1") },
  { name: "chainId (rare)", query: () => is("chainId", "42161") },
  ...["success", "refund", "failure", "waiting", "pending"].map((status) => ({
    name: `status ${status}`,
    query: () => is("status", status),
  })),
  { name: "failReason", query: () => is("failReason", "SLIPPAGE") },
  { name: "failReason (rare)", query: () => is("failReason", "SOLVER_BALANCE_TOO_LOW") },
  { name: "refundFailReason", query: () => is("refundFailReason", "AMOUNT_TOO_LOW_TO_REFUND") },
  ...["Bridge", "Crosschain Swap", "Same-chain Swap", "Send", "Wrap", "Unwrap", "Call"].map((type) => ({
    name: `requestType ${type}`,
    query: () => is("requestType", type),
  })),
  { name: "apiKey", query: (_facts, run) => is("apiKey", `key-${run % 7}`) },
  {
    name: "apiKey and referrer",
    query: (_facts, run) => ({
      conditions: [
        ...is("apiKey", `key-${run % 7}`).conditions,
        ...is("referrer", `app-${run % 3}`).conditions,
      ],
    }),
  },
  { name: "currencyInAddress", query: () => is("currencyInAddress", tokenAddress("c0")) },
  { name: "currencyInAddress (rare)", query: () => is("currencyInAddress", tokenAddress("4a")) },
  { name: "currencyOutAddress", query: () => is("currencyOutAddress", tokenAddress("c0")) },
  { name: "currencyOutAddress (rare)", query: () => is("currencyOutAddress", tokenAddress("4a")) },
  { name: "currencyInSymbol", query: () => is("currencyInSymbol", "usdc") },
  { name: "currencyInSymbol (rare)", query: () => is("currencyInSymbol", "rare") },
  { name: "currencyOutSymbol", query: () => is("currencyOutSymbol", "eth") },
  { name: "currencyOutSymbol (rare)", query: () => is("currencyOutSymbol", "rare") },
  {
    name: "startTimestamp",
    query: (_facts, run) => within("createdAt", { min: BigInt(NEWEST_MS - run * 60_000) }),
  },
  {
    name: "endTimestamp",
    query: (_facts, run) => within("createdAt", { max: BigInt(NEWEST_MS - run * 60_000) }),
  },
  { name: "startBlock", query: (facts, run) => within("block", { min: BigInt(rowAt(facts, run).block) }) },
  { name: "endBlock", query: (facts, run) => within("block", { max: BigInt(rowAt(facts, run).block) }) },
  {
    name: "originChainId and endBlock",
    query: (facts, run) => ({
      conditions: [
        ...is("originChainId", "1").conditions,
        ...within("block", { max: BigInt(rowAt(facts, run).block) }).conditions,
      ],
    }),
  },
  {
    name: "startBlock and endBlock",
    query: (facts, run) =>
      within("block", { min: BigInt(rowAt(facts, run).block), max: BigInt(rowAt(facts, run).block + 5) }),
  },
  {
    name: "amountUsdMin",
    query: (_facts, run) => within("amountUsd", { min: BigInt(1_000_003_000 - run * 1_000) }),
  },
  { name: "amountUsdMin (common)", query: () => within("amountUsd", { min: 100_000_000n }) },
  { name: "amountUsdMax", query: (_facts, run) => within("amountUsd", { max: BigInt(run * 1_000) }) },
  {
    name: "amountUsdMin and Max",
    query: (_facts, run) =>
      within("amountUsd", { min: BigInt(run * 1_000_000), max: BigInt(run * 1_000_000 + 1_000_000) }),
  },
  {
    name: "appFeesAmountUsdMin",
    query: (_facts, run) => within("appFeesAmountUsd", { min: BigInt(1 + run * 4) * 10_000n }),
  },
  { name: "appFeesAmountUsdMax", query: () => within("appFeesAmountUsd", { max: 1_000_000n }) },
  { name: "fillTimeMin", query: (_facts, run) => within("fillTime", { min: BigInt(run * 500) }) },
  { name: "fillTimeMax", query: (_facts, run) => within("fillTime", { max: BigInt(2_000 + run * 500) }) },
  { name: "features fast-fill", query: () => is("features", "fast-fill") },
  { name: "features execution", query: () => is("features", "execution") },
  { name: "features origin-swap", query: () => is("features", "origin-swap") },
  { name: "features calls (none)", query: () => is("features", "calls") },
  {
    name: "filters",
    query: (facts, run) => ({
      groups: [is("user", rowAt(facts, run).user).conditions, is("status", "failure").conditions],
    }),
  },
  {
    name: "filters not",
    query: () => ({
      groups: [
        [{ kind: "is", field: "status", values: ["success"], not: true }],
        [{ kind: "null", field: "currencyInSymbol" }],
      ],
    }),
  },
  { name: "sortBy createdAt asc", query: () => sorted("createdAt", true) },
  { name: "sortBy updatedAt", query: () => sorted("updatedAt", false) },
  { name: "sortBy amountUsd", query: () => sorted("amountUsd", false) },
  { name: "sortBy amountUsd asc", query: () => sorted("amountUsd", true) },
];

/** A complete query. */
export function questionFor(filterCase: FilterCase, facts: StoredFacts, run: number): HistoryQuestion {
  return {
    conditions: [],
    groups: [],
    sort: "createdAt",
    isAscending: false,
    after: undefined,
    limit: 21,
    ...filterCase.query(facts, run),
  };
}
