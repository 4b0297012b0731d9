import type {
  Address,
  AddressFunds,
  FrontState,
  Hex,
  OrderId,
  RefundFailReason,
  RequestId,
  RequestTerms,
  FailReason,
  StateName,
  TxHash,
} from "@causeway/domain";

import type { Month } from "../../db/month.port.ts";
import type { TraceEvent } from "../trace.port.ts";

/** The types of requests, as clients name them. */
export const requestTypes = [
  "Bridge",
  "Crosschain Swap",
  "Same-chain Swap",
  "Send",
  "Wrap",
  "Unwrap",
  "Call",
] as const;
export type RequestType = (typeof requestTypes)[number];

/**
 * Features of a request. `fast-fill`: an app guaranteed its deposit. `execution`: the service sent the user's
 * transaction. `origin-swap`: the deposit is the output of a swap. `destination-swap`: the fill swaps the
 * solver's inventory. `calls`: the order contains calls.
 */
export const requestFeatures = [
  "fast-fill",
  "execution",
  "origin-swap",
  "destination-swap",
  "calls",
] as const;
export type RequestFeature = (typeof requestFeatures)[number];

/** Fields that conditions compare with given values. */
export const historyFields = [
  "id",
  "orderId",
  "user",
  "recipient",
  "term",
  "hash",
  "depositTxHash",
  "fillTxHash",
  "refundTxHash",
  "depositAddress",
  "originChainId",
  "destinationChainId",
  "chainId",
  "status",
  "failReason",
  "refundFailReason",
  "requestType",
  "apiKey",
  "referrer",
  "currencyInAddress",
  "currencyOutAddress",
  "currencyInSymbol",
  "currencyOutSymbol",
  "features",
] as const;
export type HistoryField = (typeof historyFields)[number];

/**
 * Fields that conditions compare with a range. `createdAt` in ms, USD in millionths, `fillTime` in ms,
 * `block` of the deposit.
 */
export const historyRanges = ["createdAt", "block", "amountUsd", "appFeesAmountUsd", "fillTime"] as const;
export type HistoryRange = (typeof historyRanges)[number];

/** A condition that a request must meet, or must not meet if `not` is set. */
export type HistoryCondition =
  | {
      readonly kind: "is";
      readonly field: HistoryField;
      /**
       * Matches any of these, at least one; of `features`: all of them. Lower case where case is irrelevant;
       * chain ids as digits.
       */
      readonly values: readonly string[];
      readonly not?: boolean;
    }
  /** The value is unknown or absent. */
  | { readonly kind: "null"; readonly field: HistoryField; readonly not?: boolean }
  | {
      readonly kind: "within";
      readonly range: HistoryRange;
      readonly min?: bigint;
      readonly max?: bigint;
      readonly not?: boolean;
    };

export const historySorts = ["createdAt", "updatedAt", "amountUsd"] as const;
export type HistorySort = (typeof historySorts)[number];

/** Where a page ended: the sort key and number of its last row. */
export interface HistoryPlace {
  readonly key: bigint;
  readonly n: bigint;
}

export interface HistoryQuestion {
  /** All of these must hold. */
  readonly conditions: readonly HistoryCondition[];
  /** All conditions of at least one group must hold; empty: no groups. */
  readonly groups: ReadonlyArray<readonly HistoryCondition[]>;
  readonly sort: HistorySort;
  readonly isAscending: boolean;
  readonly after: HistoryPlace | undefined;
  /** Maximum number of rows. */
  readonly limit: number;
}

/** A row of the result and its position. */
export interface ListedRequest {
  readonly requestId: RequestId;
  readonly place: HistoryPlace;
  readonly requestType: RequestType | undefined;
  readonly features: readonly RequestFeature[];
  readonly depositAddress: Address | undefined;
  /** When the client-visible status last changed. */
  readonly updatedAtMs: number;
}

/** A deposit as shown in history. */
export interface HistoryDeposit {
  readonly id: string;
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  readonly canonical: boolean;
  readonly depositor: Address;
  readonly sender: Address;
  readonly currency: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly confirmAtBlock: bigint;
  readonly disposition: string;
  readonly reason: string | undefined;
  readonly refundState: string;
  readonly refundFailReason: string | undefined;
  readonly seenAtMs: number;
}

/** A signed transaction without its bytes. Fees in wei per gas. */
export interface HistoryAttempt {
  readonly n: number;
  readonly kind: string;
  readonly txHash: TxHash;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly createdAtMs: number;
  readonly firstBroadcastAtMs: number | undefined;
  readonly broadcastAtMs: number | undefined;
}

/** A nonce and its payment. */
export interface HistorySlot {
  readonly id: string;
  readonly chainId: number;
  readonly sender: Address;
  readonly nonce: number;
  /** fill | refund | execution */
  readonly legKind: string;
  readonly legId: string;
  /** `data` is undefined once it was archived. */
  readonly call: { readonly to: Address; readonly data: Hex | undefined; readonly value: bigint };
  readonly gasLimit: bigint;
  readonly outflow: { readonly currency: Address; readonly amount: bigint };
  /** The amount that the recipient of a fill gets, in base units of the destination currency. */
  readonly deliveredAmount: bigint | undefined;
  readonly state: string;
  readonly cancelReason: string | undefined;
  readonly deadReason: string | undefined;
  readonly minedAttempt: number | undefined;
  readonly minedBlockNumber: bigint | undefined;
  readonly minedStatus: string | undefined;
  /** When the service saw it mined. */
  readonly minedAtMs: number | undefined;
  readonly gasUsed: bigint | undefined;
  readonly effectiveGasPrice: bigint | undefined;
  readonly createdAtMs: number;
  readonly attempts: readonly HistoryAttempt[];
}

/** An event of a request and its recorded facts. */
export interface HistoryEvent {
  readonly atMs: number;
  readonly event: TraceEvent;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** One payment that the hub owes the solver. */
export interface HistorySettlement {
  readonly slotId: string;
  /** due | attested | settled */
  readonly state: string;
  readonly reason: string | undefined;
  readonly tries: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Its two executions on the hub: the deposit is credited, then transferred to the solver. */
  readonly executions: ReadonlyArray<{
    readonly kind: string;
    readonly state: string;
    readonly idempotencyKey: string;
    readonly txHash: string | undefined;
    readonly createdAtMs: number;
    readonly settledAtMs: number | undefined;
  }>;
}

/** Fees that an app balance was charged for a final fill. */
export interface PaidFees {
  /** USD, 18 decimals. */
  readonly usd: bigint;
  /** The charged amount per currency, base units. */
  readonly parts: ReadonlyArray<{
    readonly chainId: number;
    readonly currency: Address;
    readonly amount: bigint;
  }>;
}

/** All stored facts about one request. */
export interface RequestStory {
  readonly terms: RequestTerms;
  /** The request that replaced this one when a different amount arrived at its deposit address. */
  readonly supersededBy?: RequestId;
  /** Absent: no funds at the deposit address, or no deposit address. */
  readonly addressFunds?: AddressFunds;
  readonly state: {
    readonly name: StateName;
    readonly front: FrontState;
    readonly depositId: string | undefined;
    readonly failReason: FailReason | undefined;
    readonly refundFailReason: RefundFailReason | undefined;
    readonly final: boolean;
  };
  readonly updatedAtMs: number;
  readonly inTxHashes: readonly TxHash[];
  readonly txHashes: readonly TxHash[];
  readonly refundTxHashes: readonly TxHash[];
  readonly deposits: readonly HistoryDeposit[];
  readonly slots: readonly HistorySlot[];
  readonly events: readonly HistoryEvent[];
  /** Months whose events the operator archived, in order. Undefined: nothing is archived. */
  readonly archivedMonths: readonly Month[] | undefined;
  readonly settlements: readonly HistorySettlement[];
  /** The user's own payment on one chain. */
  readonly send:
    | { readonly txHash: TxHash; readonly blockNumber: bigint | undefined; readonly reportedAtMs: number }
    | undefined;
  /** The amount that an app paid for the request. */
  readonly sponsorship: {
    readonly execution:
      | {
          readonly keyId: string;
          readonly wallet: string | undefined;
          /** USD, 18 decimals. */
          readonly costUsd: bigint;
          readonly originUsd: bigint | undefined;
          readonly destinationUsd: bigint | undefined;
          readonly createdAtMs: number;
        }
      | undefined;
    readonly hold:
      | {
          readonly state: string;
          /** USD, 18 decimals. */
          readonly usd: bigint;
          readonly placedAtMs: number;
          readonly resolvedAtMs: number | undefined;
        }
      | undefined;
    /** The part of the quote's fees that an app paid; undefined: nothing yet. */
    readonly fees: PaidFees | undefined;
    /**
     * Credits to apps for the deposit, once per wallet; base units of the currency in the terms. Empty: none
     * yet.
     */
    readonly appFees: ReadonlyArray<{ readonly wallet: string; readonly amount: bigint }>;
    readonly fastFill:
      | { readonly amount: bigint; readonly inputAmount: bigint; readonly acceptedAtMs: number }
      | undefined;
    readonly movements: ReadonlyArray<{
      readonly context: string;
      readonly reason: string;
      readonly wallet: string;
      readonly atMs: number;
      readonly entries: ReadonlyArray<{
        readonly account: string;
        readonly chainId: number;
        readonly currency: Address;
        readonly amount: bigint;
      }>;
    }>;
  };
}

/** The name of a currency at the time when requests are listed. */
export interface CurrencyName {
  readonly chainId: number;
  readonly address: Address;
  /** Equal for the same asset on all chains; undefined: unknown. */
  readonly asset: string | undefined;
  readonly symbol: string;
  readonly wrapsNative: boolean;
}

export interface RequestHistory {
  /** One page, in order. Unpaid requests are not listed unless a payment is pending. */
  page(question: HistoryQuestion): Promise<readonly ListedRequest[]>;
  /** The number of matches on all pages, counted up to `cap`. */
  count(question: Pick<HistoryQuestion, "conditions" | "groups">, cap: number): Promise<number>;
  /** Finds unlisted requests, too. */
  idOfOrder(orderId: OrderId): Promise<RequestId | undefined>;
  /**
   * The stories that lists show, also of unlisted requests: without events, holds, fast fills, movements and
   * executions on the hub.
   */
  stories(requestIds: readonly RequestId[]): Promise<ReadonlyMap<RequestId, RequestStory>>;
  /** The complete story of one request. */
  story(requestId: RequestId): Promise<RequestStory | undefined>;
  /** Stores names for requests that are listed from now on. */
  storeNames(currencies: readonly CurrencyName[]): Promise<void>;
}
