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

export interface ListQuestion extends HistoryQuestion {
  readonly wantsTotal: boolean;
}

export interface RequestPage {
  readonly requests: readonly PastRequest[];
  /** Where the next page begins. Undefined on the last page. */
  readonly next: HistoryPlace | undefined;
  readonly total: { readonly count: number; readonly isCapped: boolean } | undefined;
  /** Deposits of the queried transactions that match no request. */
  readonly unattributed: readonly UnattributedDeposit[];
}

/** A deposit that matches no known request, in the notation of its chain. */
export interface UnattributedDeposit {
  readonly chainId: number;
  readonly txHash: string;
  readonly depositor: string;
  readonly currency: string;
  /** Base units. */
  readonly amount: bigint;
  /** `waiting` for its automatic refund, or `held` until the operator acts. */
  readonly state: "waiting" | "refunding" | "refunded" | "held";
  /** Where the funds are, as the end of a sentence. */
  readonly message: string;
}

/** An amount of a currency. Undefined fields are unknown. */
export interface PastAmount {
  readonly chainId: number;
  readonly currency: Address;
  /** Undefined: the currency is not configured. */
  readonly configured: Currency | undefined;
  /** Base units. */
  readonly amount: bigint | undefined;
  /** Value in USD at the time of the quote, 18 decimals. */
  readonly usd?: bigint | undefined;
  readonly minimumAmount?: bigint | undefined;
}

export interface PastTransaction {
  readonly txHash: TxHash;
  readonly chainId: number;
  readonly block: bigint | undefined;
  /** When the service saw it mined. */
  readonly seenAtMs: number | undefined;
  readonly status: "pending" | "success" | "failure";
  /** Wei. Undefined: another sender paid it, or it is not mined. */
  readonly feeWei: bigint | undefined;
  /** Which payment this transaction of the service makes; undefined: neither. */
  readonly leg?: "fill" | "refund" | undefined;
  /** Only of transactions that the service sent. */
  readonly call?: { readonly to: Address; readonly data: Hex | undefined; readonly value: bigint };
  /** The tokens and native currency that it moved. */
  readonly moved: ReadonlyArray<{
    readonly address: Address;
    readonly currency: Address;
    readonly difference: bigint;
  }>;
}

/** One side of a route, with its input and output. */
export interface PastSide {
  readonly input: PastAmount | undefined;
  readonly output: PastAmount | undefined;
}

/** A request with its transactions and amounts. Undefined fields are unknown. */
export interface PastRequest {
  readonly terms: RequestTerms;
  /** The solver chain of the order. Undefined: it is no longer configured. */
  readonly solverChainId: number | undefined;
  readonly status: PublicStatus;
  readonly sender: Address;
  readonly depositAddress: Address | undefined;
  /** The request that replaced it, after a different amount arrived at the deposit address. */
  readonly supersededBy?: string | undefined;
  /** Undefined: an unpaid quote. */
  readonly requestType: RequestType | undefined;
  readonly features: readonly RequestFeature[];
  readonly updatedAtMs: number;
  readonly failReason: string | undefined;
  readonly refundFailReason: string | undefined;
  /** The transaction that was mined and failed. */
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
  /** App fees, as quoted and as credited. Undefined: none. */
  readonly appFees: PastAppFees | undefined;
  /** The fees that an app was charged. Undefined: none yet. */
  readonly paidFees: PaidFees | undefined;
  /** The amount that an app paid for a gasless transaction. */
  readonly sponsored:
    | {
        readonly wallet: string | undefined;
        /** USD, 18 decimals: reserved, and paid. */
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
        /** Undefined: the chain is no longer configured. */
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
  /** Undefined: not credited yet. */
  readonly actual: PastAmount | undefined;
  readonly recipients: ReadonlyArray<{
    readonly recipient: Address;
    readonly bps: number;
    readonly quoted: bigint;
    readonly actual: bigint | undefined;
  }>;
}

/** The delivered and the quoted amounts, in base units. */
export interface Delivered {
  readonly amount: bigint;
  readonly quotedAmount: bigint;
  readonly minimumAmount: bigint;
  /** Positive: more than quoted. In bps, two decimals. */
  readonly differenceBps: number;
}

/** Something that the service saw, decided, signed or sent. */
export interface TraceEntry {
  readonly atMs: number;
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface RequestTrace {
  readonly requestId: RequestId;
  readonly status: PublicStatus;
  readonly fundsAt: FundsPlace;
  /** Where the funds are, and why. */
  readonly summary: string;
  /** In chronological order. */
  readonly entries: readonly TraceEntry[];
}
