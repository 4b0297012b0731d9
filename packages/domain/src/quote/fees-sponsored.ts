import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import { outputAt } from "./fixed-rate.ts";
import type { FixedRate } from "./fixed-rate.ts";

/** Which part of the fees somebody else pays. Amounts are smallest units of what is deposited. */
export type FeesSponsored =
  /** All of the fees that are named, up to the cap. */
  | {
      readonly kind: "components";
      readonly execution: boolean;
      readonly service: boolean;
      readonly app: boolean;
      /** What of the exchange in the fill is paid, beside the fees. */
      readonly swap: bigint;
      readonly cap: bigint | undefined;
    }
  /** Whatever a rate asks for. */
  | { readonly kind: "fixedRate"; readonly rate: FixedRate }
  /** What was agreed upon in the quote. */
  | { readonly kind: "promised"; readonly amount: bigint };

/** An input with its fees taken off. */
export interface ChargedInput {
  readonly input: bigint;
  /**
   * Fees that do not depend on the input: the execution, and beside it what the recipient gets as coin for
   * gas.
   */
  readonly execution: bigint;
  readonly topup: bigint;
  /** What the fees leave; below zero when they are more. */
  readonly rest: bigint;
}

/** Of the facts of a route, what sponsoring needs. */
export interface SponsoredFacts {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
  readonly serviceBps: number;
  readonly appBps: number;
}

/**
 * What the sponsor pays for an input. The fees that are left to the user are rounded up as all are, and the
 * sponsor pays what lies between them and all fees: so the parts are together the whole, and more input never
 * leaves less.
 */
export function sponsoredPart(
  sponsored: FeesSponsored,
  charged: ChargedInput,
  facts: SponsoredFacts,
): bigint {
  switch (sponsored.kind) {
    case "promised":
      return sponsored.amount;
    case "components": {
      const left = leftWithout(sponsored, charged, facts);
      const all = left - charged.rest;
      return sponsored.cap !== undefined && all > sponsored.cap ? sponsored.cap : all;
    }
    case "fixedRate": {
      const needed = convertUp(
        outputAt(sponsored.rate, charged.input, facts),
        facts.destination,
        facts.origin,
      );
      return needed > charged.rest ? needed - charged.rest : 0n;
    }
    default:
      return sponsored satisfies never;
  }
}

/** What an input leaves when the named fees are paid by somebody else, whatever they are. */
function leftWithout(
  sponsored: Extract<FeesSponsored, { kind: "components" }>,
  { input, execution, topup }: ChargedInput,
  facts: SponsoredFacts,
): bigint {
  const { fixed, bps } = leftToUser(sponsored, execution, topup, facts);
  return input - fixed - divUp(input * BigInt(bps), BPS) + sponsored.swap;
}

/** The fees that the user pays himself. */
export function leftToUser(
  { execution: isExecution, service, app }: Extract<FeesSponsored, { kind: "components" }>,
  execution: bigint,
  topup: bigint,
  { serviceBps, appBps }: Pick<SponsoredFacts, "serviceBps" | "appBps">,
): { readonly fixed: bigint; readonly bps: number } {
  return {
    fixed: topup + (isExecution ? 0n : execution),
    bps: (service ? 0 : serviceBps) + (app ? 0 : appBps),
  };
}
