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

/** What kinds of requests there are, in the words of clients. */
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
 * What was special about a request. `fast-fill`: an app vouched for its deposit. `execution`: the service
 * sent the user's transaction. `origin-swap`: a swap turned what the user paid into what was deposited.
 * `destination-swap`: the fill exchanged what the solver holds. `calls`: the order holds calls.
 */
export const requestFeatures = [
  "fast-fill",
  "execution",
  "origin-swap",
  "destination-swap",
  "calls",
] as const;
export type RequestFeature = (typeof requestFeatures)[number];

/** What requests are chosen by, when it has one of a few values or is one of many. */
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
 * What requests are chosen by, when it lies in a range. `createdAt` in ms, USD in millionths, `fillTime` in
 * ms, `block` of the deposit.
 */
export const historyRanges = ["createdAt", "block", "amountUsd", "appFeesAmountUsd", "fillTime"] as const;
export type HistoryRange = (typeof historyRanges)[number];

/** One thing that a request must be, or with `not` must not be. */
export type HistoryCondition =
  | {
      readonly kind: "is";
      readonly field: HistoryField;
      /**
       * One of these: in lower case where case means nothing, chain ids as digits. Of `features`: all of
       * these. At least one.
       */
      readonly values: readonly string[];
      readonly not?: boolean;
    }
  /** Nobody knows it, or there is none. */
  | { readonly kind: "null"; readonly field: HistoryField; readonly not?: boolean }
  /** Both ends belong to it. */
  | {
      readonly kind: "within";
      readonly range: HistoryRange;
      readonly min?: bigint;
      readonly max?: bigint;
      readonly not?: boolean;
    };

export const historySorts = ["createdAt", "updatedAt", "amountUsd"] as const;
export type HistorySort = (typeof historySorts)[number];

/** Where a page ended: the sort key of its last row, and the row's number. */
export interface HistoryPlace {
  readonly key: bigint;
  readonly n: bigint;
}

export interface HistoryQuestion {
  /** All of these hold. */
  readonly conditions: readonly HistoryCondition[];
  /** Of at least one of these groups, all conditions hold; empty: no groups were asked for. */
  readonly groups: ReadonlyArray<readonly HistoryCondition[]>;
  readonly sort: HistorySort;
  readonly isAscending: boolean;
  readonly after: HistoryPlace | undefined;
  /** Rows at most. */
  readonly limit: number;
}

/** A row that was found, in its place. */
export interface ListedRequest {
  readonly requestId: RequestId;
  readonly place: HistoryPlace;
  readonly requestType: RequestType | undefined;
  readonly features: readonly RequestFeature[];
  readonly depositAddress: string | undefined;
  /** When what clients see of it last changed. */
  readonly updatedAtMs: number;
}

/** A deposit, as far as history tells of it. */
export interface HistoryDeposit {
  readonly id: string;
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  readonly canonical: boolean;
  readonly depositor: Address;
  readonly sender: Address;
  readonly currency: Address;
  /** Smallest units. */
  readonly amount: bigint;
  readonly confirmAtBlock: bigint;
  readonly disposition: string;
  readonly reason: string | undefined;
  readonly refundState: string;
  readonly refundFailReason: string | undefined;
  readonly seenAtMs: number;
}

/** Signed bytes, without the bytes. Fees in wei per gas. */
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

/** A nonce and what it pays. */
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
  /** What the recipient of a fill gets, in base units of the destination currency. */
  readonly deliveredAmount: bigint | undefined;
  readonly state: string;
  readonly cancelReason: string | undefined;
  readonly deadReason: string | undefined;
  readonly minedAttempt: number | undefined;
  readonly minedBlockNumber: bigint | undefined;
  readonly minedStatus: string | undefined;
  /** When it was seen in its block. */
  readonly minedAtMs: number | undefined;
  readonly gasUsed: bigint | undefined;
  readonly effectiveGasPrice: bigint | undefined;
  readonly createdAtMs: number;
  readonly attempts: readonly HistoryAttempt[];
}

/** Something that happened to a request, and its facts as they were noted. */
export interface HistoryEvent {
  readonly atMs: number;
  readonly event: TraceEvent;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** One payment that the hub owes the solver for. */
export interface HistorySettlement {
  readonly slotId: string;
  /** due | attested | settled */
  readonly state: string;
  readonly reason: string | undefined;
  readonly tries: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The executions on the hub: the deposit becomes money there, then it goes to the solver. */
  readonly executions: ReadonlyArray<{
    readonly kind: string;
    readonly state: string;
    readonly idempotencyKey: string;
    readonly txHash: string | undefined;
    readonly createdAtMs: number;
    readonly settledAtMs: number | undefined;
  }>;
}

/** Fees that an app balance was charged for a fill that is final. */
export interface PaidFees {
  /** USD, 18 decimals. */
  readonly usd: bigint;
  /** What was taken of each currency, smallest units. */
  readonly parts: ReadonlyArray<{
    readonly chainId: number;
    readonly currency: Address;
    readonly amount: bigint;
  }>;
}

/** All that is stored of one request. */
export interface RequestStory {
  readonly terms: RequestTerms;
  /** The request that was made in its place, for another sum at the same deposit address. */
  readonly supersededBy?: RequestId;
  /** Absent: nothing lies at its deposit address, or it has none. */
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
  /** Months that the operator archived. */
  readonly archivedMonths: readonly Month[];
  readonly settlements: readonly HistorySettlement[];
  /** The user's own payment on one chain. */
  readonly send:
    | { readonly txHash: TxHash; readonly blockNumber: bigint | undefined; readonly reportedAtMs: number }
    | undefined;
  /** What an app did for it. */
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
    /** What an app paid of the quote's fees; undefined: nothing yet. */
    readonly fees: PaidFees | undefined;
    /**
     * What apps were credited of the input, each wallet once; smallest units of the currency that the terms
     * name. None: nothing yet.
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

/** A name that a currency has while requests are listed. */
export interface CurrencyName {
  readonly chainId: number;
  readonly address: Address;
  /** The same for one asset on all chains; undefined: nobody says. */
  readonly asset: string | undefined;
  readonly symbol: string;
  readonly wrapsNative: boolean;
}

/** Past requests. */
export interface RequestHistory {
  /** One page, in order. Requests that nobody has paid and nobody is about to pay are not listed. */
  page(question: HistoryQuestion): Promise<readonly ListedRequest[]>;
  /** How many there are on all pages, counted up to `cap`. */
  count(question: Pick<HistoryQuestion, "conditions" | "groups">, cap: number): Promise<number>;
  /** Listed or not. */
  idOfOrder(orderId: OrderId): Promise<RequestId | undefined>;
  /**
   * What lists tell of these requests, listed or not: without holds, fast fills, movements and executions on
   * the hub.
   */
  stories(requestIds: readonly RequestId[]): Promise<ReadonlyMap<RequestId, RequestStory>>;
  /** All that is known of one. */
  story(requestId: RequestId): Promise<RequestStory | undefined>;
  /** Remembers names for requests that are listed from now on. */
  name(currencies: readonly CurrencyName[]): Promise<void>;
}
