import type { Trouble } from "./troubles.ts";

/** What can happen in a sequence, as plain data: a sequence is a list of actions, printed when it fails. */

export const assets = ["usdc", "eth", "tst", "weth", "odd"] as const;
/** The assets that pools trade for USDC. */
export const traded = ["tst", "weth", "odd"] as const;
export type Asset = (typeof assets)[number];
export type PaymentWay = "exact" | "less" | "more" | "dust" | "wrongCurrency" | "stranger" | "unknownOrder";
export const payments: readonly PaymentWay[] = [
  "exact",
  "exact",
  "exact",
  "exact",
  "less",
  "more",
  "dust",
  "wrongCurrency",
  "stranger",
  "unknownOrder",
];
/** What a quote requests beyond a plain bridge. */
export const extras = [
  "none",
  "harmlessCalls",
  "burningCalls",
  "appFees",
  "sponsored",
  "sponsoredAppFees",
  "topupGas",
  "address",
  "strictAddress",
  "sameChain",
  "solverOnSameChain",
  "paidCalls",
  "topupMoreGas",
  "fixedRate",
  "boundedSponsorship",
  "trueExactOutput",
] as const;
export type Extra = (typeof extras)[number];
export const recipients = ["fresh", "user", "fickle", "contract"] as const;
/** Prefixes of the names of the moments at which a process may crash. */
export const moments = ["", "before commit", "after commit", "before broadcast", "after broadcast"] as const;
export const ruleChanges = ["loose", "loose", "tight", "nothing", "revoked"] as const;
export const currencyLists = ["all", "usdc", "withoutTst", "withoutUsdc"] as const;
/**
 * What happens to the transactions of a reorg. `signedAgain`: wallets send what it dropped again, in new
 * transactions.
 */
export const fates = ["minedAgain", "pooled", "droppedUsers", "dropped", "signedAgain"] as const;

export type Action =
  | {
      readonly kind: "quote";
      readonly user: number;
      readonly from: Asset;
      readonly to: Asset;
      /** Whether the origin is the second chain. */
      readonly isReversed: boolean;
      readonly usd: number;
      readonly tradeType: "EXACT_INPUT" | "EXPECTED_OUTPUT" | "EXACT_OUTPUT";
      readonly recipient: (typeof recipients)[number];
      readonly refundTo: "user" | "other";
      readonly ttl: number | undefined;
      readonly slippage: number | undefined;
      readonly forceRefund: boolean;
      readonly explicitDeposit: boolean;
      readonly app: number | undefined;
      readonly extra: Extra;
      /** Whether the first app fast fills it immediately. */
      readonly isFastFilled: boolean;
      /** How the user pays immediately; undefined if they do not. */
      readonly paid: PaymentWay | undefined;
    }
  | { readonly kind: "pay"; readonly quote: number; readonly way: PaymentWay; readonly isReported: boolean }
  | { readonly kind: "blocks"; readonly count: number }
  | { readonly kind: "wait"; readonly seconds: number }
  | {
      readonly kind: "reorg";
      readonly chain: 0 | 1;
      readonly depth: number;
      readonly fate: (typeof fates)[number];
    }
  | { readonly kind: "price"; readonly asset: Asset; readonly percent: number }
  | { readonly kind: "gas"; readonly chain: 0 | 1; readonly gwei: number }
  | { readonly kind: "topUp"; readonly app: number; readonly asset: "usdc" | "eth"; readonly usd: number }
  | { readonly kind: "claim"; readonly app: number; readonly asset: "usdc" | "eth"; readonly part: number }
  | {
      readonly kind: "fastFill";
      readonly quote: number;
      readonly app: number;
      readonly part: number;
      /** Whether the request names the pending deposit. */
      readonly isNamed: boolean;
    }
  | {
      readonly kind: "execute";
      readonly app: number;
      readonly chain: 0 | 1;
      readonly target: "sink" | "burner" | "mint" | "steal" | "deposit";
      readonly isSubsidized: boolean;
      readonly quote: number;
    }
  | { readonly kind: "meddle"; readonly quote: number; readonly how: "dust" | "sweepStrict" | "recover" }
  | { readonly kind: "report"; readonly quote: number; readonly transaction: number }
  | { readonly kind: "loseJobs" }
  | {
      readonly kind: "rotate";
      readonly role: "solver" | "executor" | "operator";
      /** Whether the old solver key stays in the configuration. */
      readonly isKept: boolean;
    }
  | {
      readonly kind: "crash";
      readonly moment: (typeof moments)[number];
      /** Matching moments that pass before the crash. */
      readonly skipped: number;
      readonly during: "work" | "call";
    }
  | {
      /** A third party moves the price of a pool. */
      readonly kind: "trade";
      readonly chain: 0 | 1;
      readonly asset: (typeof traded)[number];
      readonly isBuying: boolean;
      readonly usd: number;
    }
  | {
      readonly kind: "node";
      readonly chain: 0 | 1;
      readonly trouble: Trouble["kind"];
      readonly extent: number;
      readonly rounds: number;
    }
  | { readonly kind: "rules"; readonly app: number; readonly change: (typeof ruleChanges)[number] }
  | { readonly kind: "currencies"; readonly list: (typeof currencyLists)[number] }
  | { readonly kind: "twoWorkers"; readonly blocks: number };

export type ActionOf<Kind extends Action["kind"]> = Extract<Action, { readonly kind: Kind }>;

export type Outcome = "done" | "refused" | "skipped";
