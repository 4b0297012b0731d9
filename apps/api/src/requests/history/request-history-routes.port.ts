import type { Searcher } from "../../http/usage.port.ts";
import type {
  Address,
  Currency,
  FundsPlace,
  Hex,
  PublicStatus,
  RequestId,
  RequestTerms,
  TxHash,
} from "@causeway/domain";
import type {
  HistoryPlace,
  HistoryQuestion,
  PaidFees,
  RequestFeature,
  RequestType,
} from "./request-history.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

/** What the routes ask of past requests. */
export interface HistoryRoutes {
  /** @throws ServiceError RATE_LIMITED, SERVICE_UNAVAILABLE */
  list(question: ListQuestion, searcher: Searcher): Promise<RequestPage>;
  /** Undefined when no request has this id. */
  trace(requestId: RequestId): Promise<RequestTrace | undefined>;
  /** For what `list` gives. */
  readonly spelling: AddressFormat;
}

export interface ListQuestion extends HistoryQuestion {
  readonly wantsTotal: boolean;
}

export interface RequestPage {
  readonly requests: readonly PastRequest[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: HistoryPlace | undefined;
  readonly total: { readonly count: number; readonly isCapped: boolean } | undefined;
  /** Of the transactions that the question names. */
  readonly unattributed: readonly UnattributedDeposit[];
}

/** A deposit that belongs to no known request, in the notation of its chain. */
export interface UnattributedDeposit {
  readonly chainId: number;
  readonly txHash: string;
  readonly depositor: string;
  readonly currency: string;
  /** Smallest units. */
  readonly amount: bigint;
  /** `waiting` for its automatic refund; `held` until the operator acts. */
  readonly state: "waiting" | "refunding" | "refunded" | "held";
  /** Where it is, as the end of a sentence. */
  readonly message: string;
}

/** An amount of a currency, as far as it is known. */
export interface PastAmount {
  readonly chainId: number;
  readonly currency: Address;
  /** Undefined: not configured any more, or never. */
  readonly known: Currency | undefined;
  /** Smallest units. */
  readonly amount: bigint | undefined;
  /** USD when it was quoted, 18 decimals. */
  readonly usd?: bigint | undefined;
  readonly minimumAmount?: bigint | undefined;
}

export interface PastTransaction {
  readonly txHash: TxHash;
  readonly chainId: number;
  readonly block: bigint | undefined;
  /** When we saw it in a block. */
  readonly seenAtMs: number | undefined;
  readonly status: "pending" | "success" | "failure";
  /** Wei; undefined: somebody else paid it, or it is not in a block. */
  readonly feeWei: bigint | undefined;
  /** What a transaction of ours pays. */
  readonly leg?: "fill" | "refund" | undefined;
  /** Of transactions that we sent. */
  readonly call?: { readonly to: Address; readonly data: Hex | undefined; readonly value: bigint };
  /** What it moved, of tokens and coin. */
  readonly moved: ReadonlyArray<{
    readonly address: Address;
    readonly currency: Address;
    readonly difference: bigint;
  }>;
}

/** One side of a route: what goes in there and what comes out. */
export interface PastSide {
  readonly input: PastAmount | undefined;
  readonly output: PastAmount | undefined;
}

/** A request, and all that became of it. What is not known is undefined. */
export interface PastRequest {
  readonly terms: RequestTerms;
  /** Of the chain that the order names for its solver; undefined: it is no longer configured. */
  readonly solverChainId: number | undefined;
  readonly status: PublicStatus;
  readonly sender: Address;
  readonly depositAddress: string | undefined;
  /** The request that was made in its place, for another sum at the same deposit address. */
  readonly supersededBy?: string | undefined;
  /** Undefined: a quote that nobody has paid. */
  readonly requestType: RequestType | undefined;
  readonly features: readonly RequestFeature[];
  readonly updatedAtMs: number;
  readonly failReason: string | undefined;
  readonly refundFailReason: string | undefined;
  /** The transaction that failed in a block. */
  readonly failed:
    | {
        readonly txHash: TxHash;
        readonly block: bigint | undefined;
        readonly call: {
          readonly from: Address;
          readonly to: Address;
          readonly data: Hex | undefined;
          readonly value: bigint;
        };
      }
    | undefined;
  readonly isFastFill: boolean;
  readonly inTxs: readonly PastTransaction[];
  readonly outTxs: readonly PastTransaction[];
  readonly quoted: { readonly origin: PastSide; readonly destination: PastSide };
  readonly actual: { readonly origin: PastSide; readonly destination: PastSide } | undefined;
  readonly delivered: Delivered | undefined;
  readonly refund: { readonly amount: PastAmount; readonly recipient: Address } | undefined;
  /** Of the input, for apps: what was agreed, and what they were credited; undefined: none was agreed. */
  readonly appFees: PastAppFees | undefined;
  /** What an app was charged of the quote's fees; undefined: nothing yet. */
  readonly paidFees: PaidFees | undefined;
  /** What an app paid for the service sending a transaction of the user's. */
  readonly sponsored:
    | {
        readonly wallet: string | undefined;
        /** USD, 18 decimals: set aside, and paid. */
        readonly costUsd: bigint;
        readonly paidUsd: bigint | undefined;
      }
    | undefined;
  readonly deposit:
    | {
        readonly chainId: number;
        readonly txHash: TxHash;
        readonly block: bigint;
        readonly depositor: Address;
        readonly currency: Address;
        readonly amount: bigint;
        /** What received it; undefined: the chain is no longer configured. */
        readonly depository: Hex | undefined;
        readonly isConfirmed: boolean;
      }
    | undefined;
  readonly settlement:
    | { readonly state: string; readonly reason: string | undefined; readonly updatedAtMs: number }
    | undefined;
}

/** App fees of a request. Amounts in the currency of app balances. */
export interface PastAppFees {
  readonly quoted: PastAmount;
  /** Undefined: apps are not credited yet, or never. */
  readonly actual: PastAmount | undefined;
  readonly recipients: ReadonlyArray<{
    readonly recipient: Address;
    readonly bps: number;
    readonly quoted: bigint;
    readonly actual: bigint | undefined;
  }>;
}

/** What the recipient got, beside what was quoted; smallest units. */
export interface Delivered {
  readonly amount: bigint;
  readonly quotedAmount: bigint;
  readonly minimumAmount: bigint;
  /** Above 0: more than was quoted. Hundredths of a percent, two decimals. */
  readonly differenceBps: number;
}

/** One thing that was seen, decided, signed or sent. */
export interface TraceEntry {
  readonly atMs: number;
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface RequestTrace {
  readonly requestId: RequestId;
  readonly status: PublicStatus;
  readonly fundsAt: FundsPlace;
  /** Where the money is, and why. */
  readonly summary: string;
  /** In order of time. */
  readonly entries: readonly TraceEntry[];
}
