import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import { outputAt } from "./fixed-rate.ts";
import type { FixedRate } from "./fixed-rate.ts";

/** The part of the fees that a sponsor pays. Amounts are base units of the deposit. */
export type FeesSponsored =
  /** The selected fees, up to the cap. */
  | {
      readonly kind: "components";
      readonly execution: boolean;
      readonly service: boolean;
      readonly app: boolean;
      /** The part of the fill's swap that is paid in addition to the fees. */
      readonly swap: bigint;
      readonly cap: bigint | undefined;
    }
  /** As much as the fixed rate requires. */
  | { readonly kind: "fixedRate"; readonly rate: FixedRate }
  /** As agreed in the quote. */
  | { readonly kind: "agreed"; readonly amount: bigint };

/** An input after its fees. */
export interface ChargedInput {
  readonly input: bigint;
  /** Fees that do not depend on the input: execution and gas top-up. */
  readonly execution: bigint;
  readonly topup: bigint;
  /** What is left after fees; negative if they exceed the input. */
  readonly rest: bigint;
}

/** The facts of a route that determine the sponsor's part. */
export interface SponsoredFacts {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
  readonly serviceBps: number;
  readonly appBps: number;
}

/**
 * What the sponsor pays for an input. The user's fees are rounded up as usual, and the sponsor pays the rest
 * of all fees. So the parts add up, and a larger input never leaves less output.
 */
export function sponsoredPart(
  sponsored: FeesSponsored,
  charged: ChargedInput,
  facts: SponsoredFacts,
): bigint {
  switch (sponsored.kind) {
    case "agreed":
      return sponsored.amount;
    case "components": {
      const restWithSponsor = restIfSponsored(sponsored, charged, facts);
      const fullPart = restWithSponsor - charged.rest;
      return sponsored.cap !== undefined && fullPart > sponsored.cap ? sponsored.cap : fullPart;
    }
    case "fixedRate": {
      const requiredNet = convertUp(
        outputAt(sponsored.rate, charged.input, facts),
        facts.destination,
        facts.origin,
      );
      return requiredNet > charged.rest ? requiredNet - charged.rest : 0n;
    }
    default:
      return sponsored satisfies never;
  }
}

/** What is left of an input if a sponsor pays the selected fees in full. */
function restIfSponsored(
  sponsored: Extract<FeesSponsored, { kind: "components" }>,
  { input, execution, topup }: ChargedInput,
  facts: SponsoredFacts,
): bigint {
  const { fixed, bps } = feesOfUser(sponsored, execution, topup, facts);
  return input - fixed - divUp(input * BigInt(bps), BPS) + sponsored.swap;
}

/** The fees that the user pays. */
export function feesOfUser(
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
