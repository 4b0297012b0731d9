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
import type { RequestRecord } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { reserveSponsorship } from "../balances/index.ts";
import type { FillPlan, RefusedFill } from "./fill-lane.port.ts";
import { addExposures } from "../markets/index.ts";
import { DONE } from "../db/wait.ts";
import type { PlannedFill } from "./plan/fill-planned.ts";
import { giveUpFill, postpone } from "./fill-outcome.ts";
import type { FillServices } from "./fill-services.port.ts";
import type { LegKindToPay, Sent } from "./reserve.port.ts";
import { reserveOne } from "./reserve.ts";
import { resumeSlot } from "./resume-slot.ts";
import { plainFills } from "./send-fills.ts";
import type { Progress } from "../db/wait.ts";

/** Reserves a slot for a planned fill in the commit that moves its request, then sends it. */
export async function commitAndSend(
  services: FillServices,
  request: RequestRecord,
  planned: PlannedFill,
  checkedAtMs: number,
): Promise<Progress> {
  const { basis, lane, amount, burn } = planned;
  const { requestId, sponsorship } = request.terms;
  const fill: FillPlan = { requestId, basis, amount, plan: { ...planned.plan, delivers: amount } };
  const exposures = exposuresOf(services, request.terms, planned);
  const isPlain = sponsorship === undefined && burn.uncoveredUsd === 0n && exposures.size === 0;
  const sent =
    isPlain && basis.kind === "deposit" && lane.sendTogether !== undefined
      ? await lane.sendTogether({ ...fill, checkedAtMs })
      : await sendAlone(services, planned, exposures, fill);
  switch (sent) {
    case "sent":
    case "moved":
      return DONE;
    case "late": {
      const why = "the checks of the fill are too old";
      services.events.alarm("fill_waits", { requestId, why });
      return { waitMs: 1_000, why };
    }
    case "short":
      return await postpone(services, request, "the solver's inventory does not cover the fill");
    default:
      return sent.isFinal === true
        ? await giveUpFill(services, request, sent.reason, sent.why)
        : await postpone(services, request, sent.why, sent.reason);
  }
}

async function sendAlone(
  services: FillServices,
  planned: PlannedFill,
  exposures: ReadonlyMap<string, bigint>,
  fill: FillPlan,
): Promise<Sent | RefusedFill> {
  const kind = limitedFill(services, planned, exposures);
  const outcome = await reserveOne(services, planned.lane.funds, kind, fill).catch((error: unknown) => {
    // The value of a sponsor's balance is unknown; permanently, if the operator removed a currency that it
    // owes.
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED")
      return refused("SPONSOR_BALANCE_TOO_LOW", error.message);
    throw error;
  });
  if (outcome.kind === "refused") return outcome;
  if (outcome.kind !== "reserved") return outcome.kind;
  await resumeSlot(services, outcome.slot);
  return "sent";
}

function refused(reason: RefusedFill["reason"], why: string): RefusedFill {
  return { kind: "refused", reason, why };
}

/** A fill that uses a sponsor's balance or a limit of the operator. */
function limitedFill(
  services: FillServices,
  { lane, sponsoredUsd, burn }: PlannedFill,
  exposures: ReadonlyMap<string, bigint>,
): LegKindToPay<FillPlan, RefusedFill> {
  const plain = plainFills(services, lane.chain);
  return {
    async due(tx, fills, requests) {
      const [verdict = "moved"] = await plain.due(tx, fills, requests);
      const request = fills[0] && requests.get(fills[0].requestId);
      if (verdict === "moved" || request === undefined) return ["moved"];
      if (!(await mayBurnToo(services, tx, burn)))
        return [
          refused(
            "SOLVER_CAPACITY_EXCEEDED",
            "fills in progress could use up the rest of REVERTED_GAS_DAILY_USD if they revert",
          ),
        ];
      // The sponsor's whole share is reserved, or the fill is not made.
      const fees = await reserveSponsorship(services, tx, request.terms, sponsoredUsd);
      if (fees.kind === "refused")
        return [{ ...refused("SPONSOR_BALANCE_TOO_LOW", fees.why), isFinal: true }];
      return ["due"];
    },
    async taken(tx, taken) {
      // Last, so that a fill that does not start is not counted.
      if ((await addExposures(services, tx, exposures)) !== undefined)
        return refused("SLIPPAGE", "PRICE_EXPOSURE_USD_PER_MINUTE is used up for an asset of the fill");
      if (burn.uncoveredUsd > 0n)
        for (const { slot } of taken) await tx.fillBurns.noteUnderWay(slot.id, burn.uncoveredUsd);
      return await plain.taken?.(tx, taken);
    },
  };
}

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
