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

/** Calls that ride along with the fill of a request, and what they were priced with. */
export interface DestinationExecution {
  /** In order, after the payment; all succeed or nothing happens. */
  readonly calls: readonly CallPlan[];
  readonly authorizationList: readonly Authorization[] | undefined;
  /** Gas units that were priced beyond those of a plain payment. */
  readonly extraGas: bigint;
  /** Gas units of a plain payment, which the quote has priced. */
  readonly plainGas: bigint;
  /** Wei per gas that were reckoned with. */
  readonly maxFeePerGas: bigint;
  /** USD per whole coin of the destination chain, 18 decimals. */
  readonly coinUsd: bigint;
  /**
   * What the app pays per whole native token that the calls carry, fees included. Absent: they carry none, or
   * `coinUsd`.
   */
  readonly salePriceUsd?: bigint | undefined;
}

/**
 * A call that the service sends for a user: what was asked, what it was priced with, and whose balance bears
 * it.
 */
export interface NewExecution {
  readonly requestId: RequestId;
  readonly keyId: string;
  /**
   * Whose balance pays; undefined: the output of the quote does, and the balance that something was set aside
   * from when there is none.
   */
  readonly wallet: Address | undefined;
  /** SHA-256 of what was asked. */
  readonly questionHash: Hex;
  readonly chainId: number;
  readonly call: LaneCall;
  readonly gasLimit: bigint;
  /** The most that was reckoned with, wei per gas, a replacement included. */
  readonly maxFeePerGas: bigint;
  /** USD per whole coin of the chain when it was accepted, 18 decimals. */
  readonly coinUsd: bigint;
  /**
   * What the app pays per whole native token that the call carries, fees included. Absent: it carries none,
   * or `coinUsd`.
   */
  readonly salePriceUsd?: bigint | undefined;
  /** USD with 18 decimals. */
  readonly flatUsd: bigint;
  readonly destination: DestinationExecution | undefined;
  /** Whom and what it is for: budgets count by it. */
  readonly user: Address | undefined;
  readonly target: Address;
  /** UTC day of acceptance, counted from 1970. */
  readonly day: number;
  /** USD with 18 decimals: the most it may cost until what it did cost is known. */
  readonly costUsd: bigint;
  readonly createdAtMs: number;
}

export interface ExecutionRecord extends NewExecution {
  /** What the transaction did cost, USD with 18 decimals; undefined before that is certain. */
  readonly originUsd: bigint | undefined;
  /** The same for what the calls beside the fill cost. */
  readonly destinationUsd: bigint | undefined;
  /** The reservation was paid or released. */
  readonly settled: boolean;
}

/** A call that no quote stored, with all that is written when it is accepted. */
export interface AcceptedCall {
  readonly terms: RequestTerms;
  /** Its first state. */
  readonly state: RequestState;
  /** How its trace begins. */
  readonly event: "executionAccepted";
  readonly detail: TraceDetails["executionAccepted"];
  /** The job that sends it. */
  readonly job: {
    readonly job: string;
    readonly jobId: string;
    readonly payload: Readonly<Record<string, unknown>>;
  };
  readonly execution: NewExecution;
}

/** Executions inside one transaction. */
export interface ExecutionWrites {
  /** False when the request has one already. */
  add(execution: NewExecution): Promise<boolean>;
  /** Writes fresh calls with their requests, traces and jobs. @throws when one of them is known already */
  addCalls(calls: readonly AcceptedCall[]): Promise<void>;
  /** Locks the row; undefined when the request has none. */
  lock(requestId: RequestId): Promise<ExecutionRecord | undefined>;
  /** Locks those that there are, in a fixed order. */
  lockAll(requestIds: readonly RequestId[]): Promise<Map<RequestId, ExecutionRecord>>;
  /**
   * Until the end of the transaction nobody else spends on this key's budgets; what they have spent,
   * everything committed before included, but for the execution of this request.
   */
  lockSpending(budget: Budget, except: RequestId | undefined): Promise<SponsorshipSpending>;
  /**
   * How many of a user since then are under way, or did cost something. Counts everything committed before
   * while `lockSpending` holds.
   */
  countUnpaid(keyId: string, user: Address, sinceMs: number): Promise<number>;
  /** Costs that have become certain; those that are absent stay. */
  setCosts(
    requestId: RequestId,
    costs: { readonly originUsd?: bigint; readonly destinationUsd?: bigint },
  ): Promise<void>;
  /** The last word: budgets count what it did cost from now on. */
  settle(requestId: RequestId, costUsd: bigint): Promise<void>;
}
