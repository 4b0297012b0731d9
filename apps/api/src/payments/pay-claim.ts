import type { CallPlan } from "@causeway/chains";
import { transferCall } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Hex32 } from "@causeway/domain";
import type { BalanceReads } from "../balances/balance-reads.port.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { ClaimRecord } from "../balances/claims.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { solverFunds } from "./payers/covers.ts";
import type { LegKindToPay, Wanted } from "./reserve.port.ts";
import { reserveOne } from "./reserve.ts";
import { gasAllowance } from "./payment-plan.ts";
import { gasOf } from "../markets/index.ts";
import { sendSlot } from "./send-slot.ts";
import { DONE } from "../db/wait.ts";
import { whyMaybePaidOut } from "./unexplained-nonces.ts";
import type { Progress } from "../db/wait.ts";
import { returnClaim } from "../balances/index.ts";
import { withHeadroom } from "./executions/price-execution.ts";

type Needs = Pick<Services, "events"> &
  Parameters<typeof sendSlot>[0] &
  Pick<Services, "prices" | "quotePolicy" | "formerSigners"> & {
    readonly balances: Pick<BalanceReads, "claim">;
  };

/** A payout is retried for this long; a debt does not lapse. */
const CLAIM_CANCEL_AFTER_MS = 365 * 24 * 3600 * 1000;
const SHORT_WAIT_MS = 5_000;

/**
 * Pays a signed claim from the solver's inventory, once. If the chain refuses it, the amount returns to the
 * balance.
 */
export async function payClaim(services: Needs, claimId: Hex32): Promise<Progress> {
  const claim = await services.balances.claim(claimId);
  if (claim?.state !== "paying") return DONE;
  const live = await services.reads.slotOfLeg("claim", claimId);
  if (live !== undefined) {
    await sendSlot(services, live.id);
    return DONE;
  }
  const connected = services.chains.get(claim.chainId);
  if (connected === undefined) return { waitMs: 60_000, why: "the chain is disabled" };
  // Before anything is returned: a lost payment may have paid it.
  const maybePaid = await whyMaybePaidOut(services, connected, claimId);
  if (maybePaid !== undefined) return { waitMs: SHORT_WAIT_MS, why: maybePaid };
  const planned = await planPayout(services, connected, claim);
  if (planned.kind === "wait") return { waitMs: SHORT_WAIT_MS, why: planned.why };
  if (planned.kind === "refused") {
    const end = { failReason: planned.reason, cost: "nothing" } as const;
    await services.uow.run((tx) => returnClaim(services, tx, claim, end));
    return DONE;
  }
  return await pay(services, connected, claim, planned.plan);
}

type Planned =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  | { readonly kind: "wait"; readonly why: string }
  | { readonly kind: "refused"; readonly reason: string };

async function planPayout(
  services: Needs,
  connected: ConnectedChain,
  { claimId, currency: address, recipient, amount }: ClaimRecord,
): Promise<Planned> {
  const { chain, connection, pulse } = connected;
  const currency = [chain.native, ...chain.tokens].find((one) => one.address === address);
  if (currency === undefined) return { kind: "wait", why: "the currency is no longer configured" };
  const call: CallPlan = transferCall(address, recipient, amount);
  const sender = services.signer.address;
  const prices = pulse.gasPrices();
  // Simulated with its gas price, as it will be sent: a recipient could detect a simulation without one.
  const outcome = await connection.reader.simulate(sender, call, prices);
  // A token reverts both for a low balance and for a refused recipient: only the first is temporary.
  if (
    outcome.kind === "insufficientFunds" ||
    (outcome.kind === "reverts" && pulse.solverBalance(address).amount < amount)
  )
    return { kind: "wait", why: "the solver's inventory does not cover the claim" };
  if (outcome.kind === "reverts") return { kind: "refused", reason: outcome.reason };
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const priced = gasOf(services.quotePolicy.gas.fill, currency, address === NATIVE_CURRENCY);
  if (outcome.gas > gasAllowance(connected, priced, native))
    return { kind: "refused", reason: `the payout would use ${outcome.gas} gas, more than allowed` };
  return {
    kind: "ready",
    plan: {
      chainId: chain.id,
      sender,
      leg: { kind: "claim", claimId, requestId: undefined },
      call,
      gasLimit: withHeadroom(outcome.gas),
      maxFeePerGas: prices.maxFeePerGas,
      maxPriorityFeePerGas: prices.maxPriorityFeePerGas,
      outflow: { currency: address, amount },
      cancelAfterMs: services.clock.nowMs() + CLAIM_CANCEL_AFTER_MS,
    },
  };
}

async function pay(
  services: Needs,
  connected: ConnectedChain,
  { claimId }: ClaimRecord,
  plan: SlotPlan,
): Promise<Progress> {
  const kind: LegKindToPay<Wanted> = {
    due: async (tx) => [(await tx.claims.lock(claimId))?.state === "paying" ? "due" : "moved"],
  };
  const outcome = await reserveOne(services, solverFunds(connected, plan.sender), kind, { plan });
  if (outcome.kind === "short")
    return { waitMs: SHORT_WAIT_MS, why: "the solver's inventory does not cover the claim" };
  if (outcome.kind === "reserved") await sendSlot(services, outcome.slot.id);
  return DONE;
}
