import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import type { KeyName, Refusal, Rule } from "./limits.port.ts";
import { lower, readOwnCall, readTransfer, type CallReading, type Spent } from "./read-call.ts";

/**
 * Decides whether a key may sign a payment, from the effects of its bytes and the facts in the database.
 * Pure.
 */

/** A payment for signing. */
export interface Proposal {
  readonly chainId: number;
  /** The key that signs it. Undefined: none of the service's keys. */
  readonly key: KeyName | undefined;
  readonly call: CallPlan;
  readonly reading: CallReading;
  /** Wei. */
  readonly maxFeePerGas: bigint;
}

/** The leg of a payment according to the database. */
export type LegFacts =
  | PaymentFacts
  /** Only this very call is allowed. */
  | (CommonFacts & { readonly kind: "exact"; readonly call: CallPlan })
  /** Calls of functions that only do what their arguments' signatures allow. */
  | (CommonFacts & {
      readonly kind: "signed";
      /** The contracts that may be called. Undefined: any. */
      readonly contracts: readonly Address[] | undefined;
      readonly selectors: readonly Hex[];
    });

interface CommonFacts {
  /** Undefined: any chain. */
  readonly chainId: number | undefined;
  readonly key: KeyName;
  /** Whether the leg is still to be paid. */
  readonly isOpen: boolean;
}

export interface PaymentFacts extends CommonFacts {
  readonly kind: "payment";
  readonly recipient: Address;
  readonly currency: Address;
  /** Base units of the currency. */
  readonly maxAmount: bigint;
  /** The required end of the payment's input. Undefined: any. */
  readonly reference: Hex | undefined;
  /** How it may go through the router. Undefined: not at all, except for one payment of native tokens. */
  readonly route: RouteFacts | undefined;
}

export interface RouteFacts {
  readonly router: Address;
  /** The account that pays, which may get the remainder. */
  readonly sender: Address;
  /** The currency that is swapped for the payment. Undefined: no swap. */
  readonly paidFrom: Address | undefined;
  /** The calls of the user's request. */
  readonly calls: readonly CallPlan[];
  /** Native tokens for the recipient in addition to the payment, wei. */
  readonly topup: bigint;
}

/**
 * Judges whether the call may be signed at all.
 * @param facts undefined: the leg does not exist
 * @returns undefined: the call may be signed
 */
export function judgeCall(proposal: Proposal, facts: LegFacts | undefined): Refusal | undefined {
  const { chainId, key, call, reading } = proposal;
  if (facts === undefined)
    return refusal("leg", "a payment that is not in the database", "payments in the database");
  if (!facts.isOpen) return refusal("leg", "a payment that is not due", "payments that are due");
  if (key !== facts.key) return refusal("key", key ?? "an unknown account", facts.key);
  if (facts.chainId !== undefined && chainId !== facts.chainId)
    return refusal("leg", `chain ${chainId}`, `chain ${facts.chainId}`);
  switch (facts.kind) {
    case "exact":
      return isSame(call, facts.call) ? undefined : refusal("call", describe(call), describe(facts.call));
    case "signed": {
      const selector = call.data.slice(0, 10) as Hex;
      if (call.value !== 0n) return refusal("amount", `${call.value} wei`, "0 wei");
      const { contracts } = facts;
      if (contracts !== undefined && !contracts.some((contract) => lower(contract) === call.to))
        return refusal("recipient", call.to, contracts.join(" or ") || "no contract");
      return facts.selectors.includes(selector)
        ? undefined
        : refusal("call", selector, facts.selectors.join(" or "));
    }
    case "payment":
      return judgePayment(reading, call, facts);
    default:
      return facts satisfies never;
  }
}

function judgePayment(reading: CallReading, call: CallPlan, facts: PaymentFacts): Refusal | undefined {
  if (reading.kind === "unknown") return refusal("call", describe(call), "a payment");
  if (facts.reference !== undefined && reading.reference !== facts.reference)
    return refusal("order", reading.reference ?? "none", facts.reference);
  if (reading.kind === "payment") {
    if (reading.currency !== facts.currency) return refusal("currency", reading.currency, facts.currency);
    return judgeRecipient(reading.recipient, facts) ?? judgeAmount(reading.amount, facts.maxAmount);
  }
  return judgeRouted(reading, call, facts);
}

function judgeRouted(
  reading: Extract<CallReading, { kind: "routed" }>,
  call: CallPlan,
  facts: PaymentFacts,
): Refusal | undefined {
  const { route } = facts;
  if (route === undefined) return refusal("call", describe(call), "a payment without further calls");
  const { currency, amount } = reading.spent;
  const allowedReceivers = [facts.recipient, route.sender];
  if (!allowedReceivers.includes(reading.remainderTo))
    return refusal(
      "recipient",
      `${reading.remainderTo} as recipient of the remainder`,
      allowedReceivers.join(" or "),
    );
  // A swap is limited by its budget and by the limits on value; its calls depend on pools.
  const isSwap = route.paidFrom !== undefined && currency === route.paidFrom;
  if (!isSwap && currency !== facts.currency) return refusal("currency", currency, facts.currency);
  const carried = route.topup + route.calls.reduce((sum, { value }) => sum + value, 0n);
  const maxNative = carried + (facts.currency === NATIVE_CURRENCY && !isSwap ? facts.maxAmount : 0n);
  const maxSpent = currency === NATIVE_CURRENCY ? maxNative : facts.maxAmount;
  if (!isSwap && amount > maxSpent) return judgeAmount(amount, maxSpent);
  if (reading.value > carried) return judgeAmount(reading.value, carried);
  for (const inner of reading.calls) {
    const refused = judgeInner(inner, facts, route, isSwap);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Judges a call that the router makes. */
function judgeInner(
  inner: CallPlan,
  facts: PaymentFacts,
  { router, sender, calls }: RouteFacts,
  isSwap: boolean,
): Refusal | undefined {
  if (calls.some((call) => isSame(inner, call))) return undefined;
  if (inner.to === router) {
    const ownCall = readOwnCall(inner.data);
    const payee = ownCall === undefined ? undefined : payeeOf(ownCall);
    if (payee === undefined) return refusal("call", describe(inner), "calls of a fill");
    if (payee === "noPayee" || payee === sender) return undefined;
    return judgeRecipient(payee, facts);
  }
  const transfer = inner.to === facts.currency && inner.value === 0n ? readTransfer(inner.data) : undefined;
  if (transfer !== undefined && transfer.recipient === facts.recipient)
    return judgeAmount(transfer.amount, facts.maxAmount);
  return isSwap ? undefined : refusal("call", describe(inner), "calls of the request");
}

/** Who receives funds from a call of the router to itself. Undefined: fills make no such call. */
function payeeOf({ name, args }: { readonly name: string; readonly args: readonly unknown[] }) {
  if (name === "nativeTransfer") return lower(args[0] as Address);
  if (name === "payBalance") return lower(args[1] as Address);
  const isHarmless = ["noteBalance", "requireReceived", "wrapBalance", "unwrapBalance"].includes(name);
  return isHarmless ? ("noPayee" as const) : undefined;
}

function judgeRecipient(recipient: Address, facts: PaymentFacts): Refusal | undefined {
  return recipient === facts.recipient ? undefined : refusal("recipient", recipient, facts.recipient);
}

function judgeAmount(amount: bigint, max: bigint): Refusal | undefined {
  return amount <= max ? undefined : refusal("amount", String(amount), `at most ${max}`);
}

/** The amounts that a payment debits from its sender, without gas. */
export function outflowsOf({ call, reading }: Pick<Proposal, "call" | "reading">): readonly Spent[] {
  const value = { currency: NATIVE_CURRENCY, amount: call.value };
  if (reading.kind === "payment") return [{ currency: reading.currency, amount: reading.amount }];
  if (reading.kind === "routed" && reading.spent.currency !== NATIVE_CURRENCY)
    return reading.value === 0n ? [reading.spent] : [reading.spent, { ...value, amount: reading.value }];
  return call.value === 0n ? [] : [value];
}

function refusal(rule: Rule, found: string, limit: string): Refusal {
  return { rule, found, limit };
}

function isSame(a: CallPlan, b: CallPlan): boolean {
  return a.to === lower(b.to) && a.data.toLowerCase() === b.data.toLowerCase() && a.value === b.value;
}

function describe({ to, data, value }: CallPlan): string {
  return `${data.slice(0, 10)} of ${to} with ${value} wei`;
}
