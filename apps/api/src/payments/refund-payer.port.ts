import type { Address, Currency, PricedUnit } from "@causeway/domain";
import type { RequestEnd } from "../chains/chains.port.ts";
import type { DepositRecord, RequestRecord, SlotPlan } from "../db/records.port.ts";
import type { LaneFunds } from "./payers/funds.port.ts";

/** A deposit to refund. */
export interface RefundQuestion {
  readonly deposit: DepositRecord;
  /** Undefined: the deposit belongs to none and is refunded to its depositor. */
  readonly request: RequestRecord | undefined;
  readonly currency: Currency;
  readonly recipient: Address;
  readonly native: PricedUnit;
}

/** `refused`: only the operator can refund it. */
export type Blocked =
  | { readonly kind: "waits"; readonly waitMs: number; readonly why: string }
  | { readonly kind: "refused"; readonly why: string };

/** What a refund costs, in base units of the native token, and how it is paid. */
export interface PricedRefund {
  readonly kind: "priced";
  readonly cost: bigint;
  /** What the service paid to deposit these funds. */
  readonly broughtCost: bigint;
  /** The router that makes the payment; undefined: a plain transfer. */
  readonly router: Address | undefined;
  plan(
    amount: bigint,
    cancelAfterMs: number,
  ): Promise<{ readonly kind: "ready"; readonly plan: SlotPlan } | Blocked>;
}

/** Refunds deposits of one chain. */
export interface RefundPayer {
  readonly chain: RequestEnd["chain"];
  readonly funds: LaneFunds;
  /** Why this deposit is not refunded yet. */
  whyEarly(deposit: DepositRecord): Promise<Blocked | undefined>;
  /** @throws RpcFault */
  price(question: RefundQuestion): Promise<PricedRefund | Blocked>;
}
