import type { Budget } from "../balances/sponsors.port.ts";
import type { Authorization, CallPlan } from "@causeway/chains";
import type {
  Address,
  Hex,
  RequestId,
  RequestState,
  RequestTerms,
  SponsorshipSpending,
} from "@causeway/domain";
import type { LaneCall } from "../db/leg.port.ts";
import type { TraceDetails } from "../requests/trace.port.ts";

/** Calls that run with the fill of a request, and the prices used for them. */
export interface DestinationExecution {
  /** In order, after the payment; all succeed or the fill reverts. */
  readonly calls: readonly CallPlan[];
  readonly authorizationList: readonly Authorization[] | undefined;
  /** Gas units beyond those of a plain payment. */
  readonly extraGas: bigint;
  /** Gas units of a plain payment, included in the quote. */
  readonly plainGas: bigint;
  /** Wei per gas used for the price. */
  readonly maxFeePerGas: bigint;
  /** USD per whole native token of the destination chain, 18 decimals. */
  readonly nativePriceUsd: bigint;
  /**
   * The app's price per whole native token that the calls carry, including fees. Absent: they carry none, or
   * it is `nativePriceUsd`.
   */
  readonly salePriceUsd?: bigint | undefined;
}

/** A call that the service sends for a user: its content, its price, and who pays. */
export interface NewExecution {
  readonly requestId: RequestId;
  readonly keyId: string;
  /**
   * The wallet whose balance pays; undefined: the quote's output pays, with a reserved balance as fallback.
   */
  readonly wallet: Address | undefined;
  /** SHA-256 of the call request. */
  readonly bodyHash: Hex;
  readonly chainId: number;
  readonly call: LaneCall;
  readonly gasLimit: bigint;
  /** Maximum wei per gas, including a replacement. */
  readonly maxFeePerGas: bigint;
  /** USD per whole native token of the chain at acceptance, 18 decimals. */
  readonly nativePriceUsd: bigint;
  /**
   * The app's price per whole native token that the call carries, including fees. Absent: it carries none, or
   * it is `nativePriceUsd`.
   */
  readonly salePriceUsd?: bigint | undefined;
  /** Flat fee, USD with 18 decimals. */
  readonly flatUsd: bigint;
  readonly destination: DestinationExecution | undefined;
  /** The user and target that budgets count by. */
  readonly user: Address | undefined;
  readonly target: Address;
  /** UTC day of acceptance, counted from 1970. */
  readonly day: number;
  /** USD with 18 decimals: the maximum cost until the actual one is known. */
  readonly costUsd: bigint;
  readonly createdAtMs: number;
}

export interface ExecutionRecord extends NewExecution {
  /** Actual cost of the transaction, USD with 18 decimals; undefined until it is final. */
  readonly originUsd: bigint | undefined;
  /** Actual cost of the calls that ran with the fill, USD with 18 decimals; undefined until it is final. */
  readonly destinationUsd: bigint | undefined;
  /** The reservation was paid or released. */
  readonly settled: boolean;
}

/** A call without a stored quote, with everything written when it is accepted. */
export interface AcceptedCall {
  readonly terms: RequestTerms;
  /** Its first state. */
  readonly state: RequestState;
  /** The first event of its trace. */
  readonly event: "executionAccepted";
  readonly detail: TraceDetails["executionAccepted"];
  /** The job that sends it. */
  readonly job: {
    readonly job: string;
    readonly jobId: string;
    readonly payload: Readonly<Record<string, string | number>>;
  };
  readonly execution: NewExecution;
}

/** Executions inside one transaction. */
export interface ExecutionWrites {
  /** False if the request already has an execution. */
  add(execution: NewExecution): Promise<boolean>;
  /** Stores new calls with their requests, traces and jobs. @throws if one of them is already stored */
  addCalls(calls: readonly AcceptedCall[]): Promise<void>;
  /** Locks the row; undefined if the request has no execution. */
  lock(requestId: RequestId): Promise<ExecutionRecord | undefined>;
  /** Locks the existing rows, in a fixed order. */
  lockAll(requestIds: readonly RequestId[]): Promise<Map<RequestId, ExecutionRecord>>;
  /**
   * Locks this key's budgets until the transaction ends.
   * @returns what is spent, including everything committed before, except the execution of this request
   */
  lockSpending(budget: Budget, except: RequestId | undefined): Promise<SponsorshipSpending>;
  /**
   * Counts a user's executions since `sinceMs` that are in progress or had a cost. Call it after
   * `lockSpending`: the count then includes everything committed before.
   */
  countUnpaid(keyId: string, user: Address, sinceMs: number): Promise<number>;
  /** Stores costs that became final. A cost that is absent, or already stored, does not change. */
  setCosts(
    requestId: RequestId,
    costs: { readonly originUsd?: bigint; readonly destinationUsd?: bigint },
  ): Promise<void>;
  /** Marks an execution as settled: budgets count its actual cost (USD with 18 decimals) from now on. */
  settle(requestId: RequestId, costUsd: bigint): Promise<void>;
}
