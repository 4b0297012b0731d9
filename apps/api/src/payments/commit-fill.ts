import {
  ServiceError,
  appBpsOf,
  bpsOfUp,
  isOneAsset,
  NATIVE_CURRENCY,
  mulDivUp,
  pairClassOf,
} from "@causeway/domain";
import type { Currency, RequestTerms } from "@causeway/domain";
import { LegTaken } from "./leg-taken.port.ts";
import type { RequestRecord, SlotPlan } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { reserveSponsorship } from "../balances/index.ts";
import { isBasisOf } from "./fill-basis.ts";
import type { FillPlan, FillSent } from "./fill-lane.port.ts";
import { addExposures } from "../markets/index.ts";
import { laneFunds } from "./lane-funds.ts";
import { hasInventory } from "./non-evm/rail-payment.ts";
import { sendRailSlot } from "./non-evm/send-rail-slot.ts";
import { isNonEvm } from "../http/request-end.ts";
import { sendSlot } from "./send-slot.ts";
import { transition } from "../requests/index.ts";
import { DONE } from "../db/wait.ts";
import type { PlannedFill } from "./plan/fill-planned.ts";
import { giveUpFill, postpone } from "./fill-outcome.ts";
import type { FillChain, FillServices } from "./fill-services.port.ts";
import type { Progress } from "../db/wait.ts";

/**
 * Whether the fills in progress and this one stay within the daily limit if all of them revert. The first one
 * may exceed it, or no fill could be made.
 */
async function mayBurnToo(
  { enginePolicy }: FillServices,
  tx: Pick<Tx, "fillBurns">,
  { spentUsd, uncoveredUsd }: PlannedFill["burn"],
): Promise<boolean> {
  if (uncoveredUsd === 0n) return true;
  const underWayUsd = await tx.fillBurns.lockUnderWay();
  return underWayUsd === 0n || spentUsd + underWayUsd + uncoveredUsd <= enginePolicy.maxUnpaidRevertedGasUsd;
}

/** How the lane of the destination pays. */
interface Payer {
  /** Whether the solver's balances cover the fill. Call with the lane locked. */
  covers(tx: Tx): Promise<boolean>;
  send(slotId: string): Promise<unknown>;
  /** Reserves and sends a plain fill together with others. Absent: each is sent by itself. */
  readonly sendFill?: (fill: FillPlan) => Promise<FillSent>;
}

function payerOf(services: FillServices, destination: FillChain, plan: SlotPlan): Payer {
  if (isNonEvm(destination))
    return {
      covers: async (tx) => await hasInventory(tx, destination, plan),
      send: async (slotId) => await sendRailSlot(services, destination, slotId),
    };
  const { sendFill } = services;
  return {
    covers: async (tx) => await laneFunds(tx, destination, plan.sender).take(plan),
    send: async (slotId) => await sendSlot(services, slotId),
    ...(sendFill === undefined ? {} : { sendFill: async (fill) => await sendFill(destination, fill) }),
  };
}

export async function commitAndSend(
  services: FillServices,
  request: RequestRecord,
  planned: PlannedFill,
  checkedAtMs: number,
): Promise<Progress> {
  const { basis, destination, plan, amount, sponsoredUsd, burn } = planned;
  const { requestId } = request.terms;
  const exposures = exposuresOf(services, request.terms, planned);
  const payer = payerOf(services, destination, plan);
  const isPlain = request.terms.sponsorship === undefined && burn.uncoveredUsd === 0n && exposures.size === 0;
  if (isPlain && basis.kind === "deposit" && payer.sendFill !== undefined) {
    const sent = await payer.sendFill({ requestId, basis, plan, amount, checkedAtMs });
    if (sent === "late") {
      const why = "the checks of the fill are too old";
      services.events.alarm("fill_waits", { requestId, why });
      return { waitMs: 1_000, why };
    }
    return sent === "short" ? postpone(services, request, SHORT) : DONE;
  }
  const outcome = await services.uow
    .run(async (tx) => {
      const current = await tx.requests.lock(requestId);
      if (current === undefined || !isBasisOf(basis, current.state)) return "moved" as const;
      // The sponsor's whole share is reserved, or the fill is not made.
      const fees = await reserveSponsorship(services, tx, current.terms, sponsoredUsd);
      if (fees.kind === "refused") return fees;
      if (!(await mayBurnToo(services, tx, burn))) throw new BurnsReached();
      await tx.lanes.lockLane(plan.chainId, plan.sender);
      if (!(await payer.covers(tx))) return "short" as const;
      // Last, so that a fill that does not start is not counted.
      const reached = await addExposures(services, tx, exposures);
      if (reached !== undefined) throw new ExposureReached(reached);
      const slot = await tx.lanes.reserve({ ...plan, delivers: amount }, services.clock.nowMs());
      if (burn.uncoveredUsd > 0n) await tx.fillBurns.noteUnderWay(slot.id, burn.uncoveredUsd);
      await transition(
        services,
        tx,
        current,
        { kind: "fillPlanned" },
        {},
        {
          nonce: slot.nonce,
          amount,
        },
      );
      return { slotId: slot.id };
    })
    .catch((error: unknown) => {
      if (error instanceof LegTaken) return "moved" as const;
      if (error instanceof ExposureReached) return "exposed" as const;
      if (error instanceof BurnsReached) return "burns" as const;
      // The value of a sponsor's balance is unknown; permanently, if the operator removed a currency that it
      // owes.
      if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED")
        return { unpriced: error.message };
      throw error;
    });
  if (outcome === "moved") return DONE;
  if (outcome === "short") return postpone(services, request, SHORT);
  if (outcome === "burns")
    return postpone(
      services,
      request,
      "fills in progress could use up the rest of BURNT_FILLS_DAILY_USD if they revert",
      "SOLVER_CAPACITY_EXCEEDED",
    );
  if (outcome === "exposed")
    return postpone(
      services,
      request,
      "PRICE_EXPOSURE_USD_PER_MINUTE is used up for an asset of the fill",
      "SLIPPAGE",
    );
  if ("unpriced" in outcome) return postpone(services, request, outcome.unpriced, "SPONSOR_BALANCE_TOO_LOW");
  if ("why" in outcome) return giveUpFill(services, request, "SPONSOR_BALANCE_TOO_LOW", outcome.why);
  services.events.happened("fill_planned", {
    requestId,
    chain: destination.chain.name,
    amount,
    fast: basis.kind === "front",
    tookMs: services.clock.nowMs() - basis.sinceMs,
  });
  await payer.send(outcome.slotId);
  return DONE;
}

const SHORT = "the solver's inventory does not cover the fill";

/** Rolls back the whole commit, including the sponsor's reservation. */
class BurnsReached extends Error {}

/** Rolls back the whole commit: one of two assets may already be counted. */
class ExposureReached extends Error {}

/**
 * What a fill between different assets counts against the limit of each, in USD with 18 decimals by price id,
 * since a depegged stablecoin is a wrong price like any other. Includes app fees converted from the deposit,
 * and a gas top-up.
 */
function exposuresOf(
  { chains }: Pick<FillServices, "chains">,
  { origin, destination, inputUsd, appFees }: RequestTerms,
  { basis, topupUsd }: Pick<PlannedFill, "basis" | "topupUsd">,
): ReadonlyMap<string, bigint> {
  const exposed = new Map<string, bigint>();
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (deposited === undefined) return exposed;
  // The filled amount, not the quoted one: a partial fast fill must not use up the limit for the whole.
  const input = basis.kind === "front" ? basis.promised.inputAmount : basis.deposit.amount;
  const usd = origin.amount === 0n ? inputUsd : mulDivUp(inputUsd, input, origin.amount);
  const paidFrom = chains.currency(destination.chainId, destination.paidFrom ?? destination.currency);
  const feesIn = appFees && chains.currency(appFees.chainId, appFees.currency);
  const expose = (to: Currency | undefined, partUsd: bigint): void => {
    if (to === undefined || isOneAsset(pairClassOf(deposited, to))) return;
    for (const { priceId } of [deposited, to])
      if (partUsd > (exposed.get(priceId) ?? 0n)) exposed.set(priceId, partUsd);
  };
  expose(paidFrom, usd);
  if (topupUsd > 0n) expose(chains.currency(destination.chainId, NATIVE_CURRENCY), topupUsd);
  expose(feesIn, bpsOfUp(usd, appBpsOf(appFees?.fees ?? [])));
  return exposed;
}
