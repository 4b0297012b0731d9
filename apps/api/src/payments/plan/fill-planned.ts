import type { FailReason, RequestTerms, SimulationFailure } from "@causeway/domain";
import type { LaneCall } from "../../db/leg.port.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { FillBudget } from "../swap-in-budget.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import type { FillSwapQuoter } from "../fill-swap.ts";
import type { FillBasis, PlannedFill } from "../planned-fill.port.ts";
import type { PaymentOfOrder } from "../payment-plan.ts";

/** A simulated transaction, and why it cannot be made. */
export interface TriedFill {
  readonly reason: string;
  /** The chain's error. Undefined: the service itself refuses the transaction. */
  readonly failure: SimulationFailure | undefined;
  readonly call: LaneCall;
}

/** A temporary obstacle. Without a reason, the solver's balance is too low. */
export interface FillWaits {
  readonly kind: "wait";
  readonly why: string;
  readonly reason?: FailReason | undefined;
  readonly tried?: TriedFill;
  /** The solver has not approved its tokens to the approval proxy of this chain. */
  readonly isNotApproved?: true;
}

/** It cannot be made as guaranteed. */
export interface FillRefused {
  readonly kind: "refund";
  readonly reason: FailReason;
  readonly detail?: string;
  readonly tried?: TriedFill;
  /** Gas units of the simulation, if they are more than allowed. */
  readonly excessiveGas?: bigint;
}

/** The result of planning one transaction. */
export type TransactionPlanned =
  | {
      readonly kind: "ready";
      readonly plan: SlotPlan;
      /** Gas units that the simulation used. */
      readonly gas: bigint;
      /** The output that calls left for the recipient. */
      readonly left: bigint;
    }
  | FillWaits
  | FillRefused;

/** The result of planning a fill. */
export type FillPlanned = ({ readonly kind: "ready" } & PlannedFill) | FillWaits | FillRefused;

/** A fill whose amount is known. */
export interface FillQuestion {
  readonly terms: RequestTerms;
  readonly basis: FillBasis;
  readonly execution: ExecutionRecord | undefined;
  readonly payment: Omit<PaymentOfOrder, "maxGas">;
  /** The solver's budget, if the fill swaps. */
  readonly budget: FillBudget | undefined;
  /** The sponsor's payment, in USD with 18 decimals. */
  readonly sponsoredUsd: bigint;
}

/** How one kind of chain plans fills. */
export interface FillPlanner {
  /** Whether this is a native payment to a contract. @throws RpcFault */
  paysContract(): Promise<boolean>;
  /** The swap that the terms require; undefined: none. */
  swapQuoter(terms: Pick<RequestTerms, "requestId" | "destination">): FillSwapQuoter | undefined;
  /** @throws RpcFault, ServiceError: unknown now; retry */
  plan(
    question: FillQuestion,
  ): Promise<
    | ({ readonly kind: "ready" } & Pick<PlannedFill, "plan"> &
        Partial<Pick<PlannedFill, "topupUsd" | "burn" | "sharesCommits">>)
    | FillWaits
    | FillRefused
  >;
}

export function waits(why: string, reason?: FailReason): FillWaits {
  return { kind: "wait", why, reason };
}

export function refused(reason: FailReason, detail: string): FillRefused {
  return { kind: "refund", reason, detail };
}
