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

/** A temporary obstacle to a fill. Without a reason, the solver's balance is too low. */
export interface FillWait {
  readonly kind: "wait";
  readonly why: string;
  readonly reason?: FailReason | undefined;
  readonly tried?: TriedFill;
  /** The solver has not approved its tokens to the approval proxy of this chain. */
  readonly isNotApproved?: true;
}

/** The fill cannot be made as guaranteed, so its deposit is refunded. */
export interface FillRefusal {
  readonly kind: "refund";
  readonly reason: FailReason;
  readonly detail?: string;
  readonly tried?: TriedFill;
  /** Gas units of the simulation, if they are more than allowed. */
  readonly excessiveGas?: bigint;
}

/** The result of planning one transaction. */
export type TransactionPlanResult =
  | {
      readonly kind: "ready";
      readonly plan: SlotPlan;
      /** Gas units that the simulation used. */
      readonly gas: bigint;
      /** The output that calls left for the recipient. */
      readonly leftOutput: bigint;
    }
  | FillWait
  | FillRefusal;

/** The result of planning a fill. */
export type FillPlanResult = ({ readonly kind: "ready" } & PlannedFill) | FillWait | FillRefusal;

/** A fill whose amount is known. */
export interface FillInput {
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
    input: FillInput,
  ): Promise<
    | ({ readonly kind: "ready" } & Pick<PlannedFill, "plan"> &
        Partial<Pick<PlannedFill, "topupUsd" | "burn" | "sharesCommits">>)
    | FillWait
    | FillRefusal
  >;
}

export function fillWait(why: string, reason?: FailReason): FillWait {
  return { kind: "wait", why, reason };
}

export function fillRefusal(reason: FailReason, detail: string): FillRefusal {
  return { kind: "refund", reason, detail };
}
