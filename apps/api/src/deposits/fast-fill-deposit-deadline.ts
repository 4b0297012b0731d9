import type { DepositFact } from "@causeway/chains";
import { payBy, type ChainProfile, type RequestTerms } from "@causeway/domain";
import { familyOf, headerSkewSeconds } from "@causeway/families";
import type { RequestRecord } from "../db/records.port.ts";
import type { EnginePolicy } from "../db/engine-policy.port.ts";
import type { Services } from "../db/services.port.ts";

/**
 * Clock tolerance: block timestamps of the fill and the deposit differ from the times at which they are
 * accepted and seen here.
 */
const CLOCK_TOLERANCE_MS = 120_000;

/**
 * How long (ms) after a fast fill is accepted its deposit may come for the fill to be settled. Undefined: no
 * limit, because this instance does not settle fills.
 */
function settledLeadMs({ fillLeadMs }: Pick<EnginePolicy, "fillLeadMs">): number | undefined {
  return fillLeadMs === undefined ? undefined : Math.max(fillLeadMs - CLOCK_TOLERANCE_MS, 0);
}

/**
 * Between different assets, a fast fill waits at most this long (ms) for its deposit: the deposit's value is
 * uncertain.
 */
const MAX_LEAD_BETWEEN_ASSETS_MS = 24 * 3600 * 1000;

/**
 * How long after its acceptance the deposit of a fast fill may come (ms); undefined: no limit. Stored with
 * the fast fill, so that a shorter lead does not affect earlier ones.
 */
export function frontLeadMs(
  { chains, enginePolicy }: Pick<Services, "chains" | "enginePolicy">,
  { origin, destination }: Pick<RequestTerms, "origin" | "destination">,
): number | undefined {
  const settledMs = settledLeadMs(enginePolicy);
  const [from, to] = [origin, destination].map(({ chainId, currency }) => chains.currency(chainId, currency));
  if (from !== undefined && from.priceId === to?.priceId) return settledMs;
  return Math.min(settledMs ?? MAX_LEAD_BETWEEN_ASSETS_MS, MAX_LEAD_BETWEEN_ASSETS_MS);
}

/** A wait for the deposit of a fast fill that is longer than the lead. */
interface WaitBeyondLead {
  /** The longest time from now until the deposit, in ms. */
  readonly waitsMs: number;
  /** The longest time from now that the deposit is allowed to take, in ms. */
  readonly leadMs: number;
  /** The deposit waits for the sweep of a deposit address. */
  readonly isSweepDue: boolean;
}

/**
 * Whether the deposit of a fast fill accepted now may come too late: settlement would not repay the fill, or
 * the service's own sweep would be refunded. Undefined: it comes in time.
 */
export function waitBeyondLead(
  services: Pick<Services, "chains" | "clock" | "enginePolicy" | "quotePolicy">,
  { terms, state }: Pick<RequestRecord, "terms" | "state">,
): WaitBeyondLead | undefined {
  const { clock, enginePolicy, quotePolicy } = services;
  const isSweepDue = terms.depositAddress !== undefined && state.depositId === undefined;
  const leadMs = isSweepDue ? frontLeadMs(services, terms) : settledLeadMs(enginePolicy);
  if (leadMs === undefined) return undefined;
  const graceMs = quotePolicy.fillGraceSeconds * 1000 + enginePolicy.fastFillGraceMs;
  const untilMs = (isSweepDue ? terms.fillDeadlineMs : payBy(terms)) + graceMs;
  const waitsMs = untilMs - clock.nowMs();
  return waitsMs <= leadMs ? undefined : { waitsMs, leadMs, isSweepDue };
}

/**
 * When a deposit was made (ms since the epoch), as oracles judge it: by the time of its block, which may be
 * ahead of the clock on some chains. Without a block time: now.
 */
export function madeAtMs(
  chain: Pick<ChainProfile, "vmType">,
  { timestamp }: Pick<DepositFact, "timestamp">,
  nowMs: number,
): number {
  if (timestamp === undefined) return nowMs;
  return (Number(timestamp) - headerSkewSeconds(familyOf(chain))) * 1000;
}

/** Startup warnings when the hub's lead is longer than fast fills between different assets can use. */
export function leadWarnings(policy: Pick<EnginePolicy, "fillLeadMs">): readonly string[] {
  const { fillLeadMs } = policy;
  const settledMs = settledLeadMs(policy);
  if (fillLeadMs === undefined || settledMs === undefined || settledMs <= MAX_LEAD_BETWEEN_ASSETS_MS)
    return [];
  return [
    `the hub's fillLeadSeconds is ${fillLeadMs / 1000}, but a fast fill between different assets waits at most ${MAX_LEAD_BETWEEN_ASSETS_MS / 1000} seconds for its deposit. ` +
      "A later deposit is refunded, and the app pays for the fill: apps must request such quotes with a shorter ttl",
  ];
}
