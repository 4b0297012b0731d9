import type { Hex32 } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { claimJob, closePaidClaim, returnClaim } from "../../balances/index.ts";
import type { ClaimRecord } from "../../balances/claims.port.ts";
import type { Leg } from "../../db/leg.port.ts";
import { DONE } from "../../db/wait.ts";
import { gasOf } from "../../markets/index.ts";
import { excessiveGas, gasAllowance, planPayment } from "../payment-plan.ts";
import { whyMaybePaidOut } from "../unexplained-nonces.ts";
import type { DueLeg, LegKind } from "./leg-kind.ts";
import type { WantedPayment } from "../wanted-payment.port.ts";

/** A payout is retried for this long; a debt does not lapse. */
const CANCEL_AFTER_MS = 365 * 24 * 3600 * 1000;

interface DueClaim extends DueLeg {
  readonly claim: ClaimRecord;
}

/**
 * The payout of an app balance to its wallet, from the solver's inventory. If the chain refuses it, the
 * amount returns to the balance.
 */
export const claimLeg: LegKind<DueClaim, WantedPayment, string> = {
  name: "claim",
  queue: { name: "claim", id: "claimId", concurrency: 4 },
  isTransfer: true,

  overdue: async ({ balances }, since, limit) => await balances.overdueClaims(since, limit),
  async read({ balances, reads }, claimId) {
    const claim = await balances.claim(claimId as Hex32);
    if (claim?.state !== "paying") return undefined;
    return { claim, chainId: claim.chainId, slot: await reads.slotOfLeg("claim", claimId) };
  },
  async plan(services, { claim: { claimId, chainId, currency: address, recipient, amount } }) {
    const connected = services.chains.get(chainId);
    if (connected === undefined) return { waitMs: 60_000, why: "the chain is disabled" };
    // Checked before the claim can be returned: a payment whose record was lost may have paid it.
    const maybePaid = await whyMaybePaidOut(services, connected, claimId);
    if (maybePaid !== undefined) return { waitMs: 5_000, why: maybePaid };
    const { native, tokens } = connected.chain;
    const currency = [native, ...tokens].find((token) => token.address === address);
    if (currency === undefined) return { waitMs: 5_000, why: "the currency is no longer configured" };
    const leg = { kind: "claim", id: claimId, requestId: undefined };
    const planned = await planPayment(services, connected, {
      leg,
      currency: address,
      amount,
      recipient,
      orderId: undefined,
      toContract: false,
      cancelAfterMs: services.clock.nowMs() + CANCEL_AFTER_MS,
    });
    if (planned.kind === "insufficientFunds") return { waitMs: 5_000, why: planned.why };
    if (planned.kind !== "ready") return { giveUp: planned.why };
    // Checked last: a claim that the chain refuses is returned even without a price.
    const priced = gasOf(services.quotePolicy.gas.fill, currency, address === NATIVE_CURRENCY);
    const nativeUnit = { decimals: native.decimals, priceUsd: await services.prices.usd(native) };
    const isExcessive = planned.gas > gasAllowance(connected, priced, nativeUnit);
    return isExcessive ? { giveUp: excessiveGas(leg, planned.gas).why } : planned;
  },

  lock: async (_, tx, wanted) =>
    await Promise.all(
      wanted.map(async ({ plan: { leg } }) =>
        (await tx.claims.lock(idOf(leg)))?.state === "paying" ? "due" : "moved",
      ),
    ),

  restored: async (_, tx, { plan: { leg } }) =>
    (await tx.claims.lock(idOf(leg)))?.state === "paying" ? "restored" : "lost",

  async mined({ services, tx, slot: { leg }, attempt, receipt }) {
    if (receipt.status === "success")
      await tx.claims.setTxHash(idOf(leg), attempt.txHash, services.clock.nowMs());
  },
  async orphaned({ services, tx, slot: { leg } }) {
    await tx.claims.setTxHash(idOf(leg), undefined, services.clock.nowMs());
  },
  async final({ services, tx, slot: { leg } }) {
    const claimId = idOf(leg);
    const wallet = await tx.claims.walletOf(claimId);
    if (wallet !== undefined) await closePaidClaim(services, tx, { claimId, wallet });
  },
  async dead({ services, tx, slot: { leg } }, reason) {
    const claimId = idOf(leg);
    const wallet = await tx.claims.walletOf(claimId);
    if (wallet === undefined) return;
    // A reverted payout would revert again. It returns to the balance minus the gas, because a recipient
    // could make it fail again and again. A payout that was not included is retried.
    if (reason === "TRANSACTION_REVERTED")
      return await returnClaim(services, tx, { claimId, wallet }, { failReason: reason, cost: "fee" });
    const atMs = services.clock.nowMs();
    const claim = await tx.claims.lock(claimId);
    if (claim?.state !== "paying") return;
    await tx.claims.setState(claimId, { state: "paying", tries: claim.tries + 1 }, atMs);
    await tx.outbox.add([claimJob(claimId, claim.tries + 1)], atMs);
  },

  async giveUp(services, { claim }, failReason) {
    await services.uow.run((tx) => returnClaim(services, tx, claim, { failReason, cost: "nothing" }));
    return DONE;
  },
};

function idOf({ id }: Leg): Hex32 {
  return id as Hex32;
}
