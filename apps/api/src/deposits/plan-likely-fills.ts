import { depositUsdAtQuote, confirmAtBlock, isFronted } from "@causeway/domain";
import type { DepositId } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { confirmationsOf } from "./required-confirmations.ts";
import { type FoundDeposits, sightingOf } from "./store-deposits.ts";
import { judge } from "./judge-recorded.ts";
import type { Reading } from "./deposit-reading.ts";

/** Id of a deposit that is about to be stored: its fill can be planned, but is never made. */
export const NOT_STORED: DepositId = "";

/**
 * Begins to plan the fills that these deposits most likely make possible, while they are being stored. What
 * follows from a deposit is decided later, and a plan without a stored deposit is never used.
 */
export function planLikelyFills(
  { planAhead }: Pick<Services, "planAhead">,
  { chain, headNumber, seenAtMs }: Reading,
  { fresh, records, exposure }: FoundDeposits,
): void {
  for (const fact of fresh) {
    const record = fact.id === undefined ? undefined : records.get(fact.id);
    if (planAhead === undefined || record?.state.name !== "quoted" || isFronted(record.state)) continue;
    if (judge(chain, record, fact).kind !== "match") continue;
    const knownUsd = depositUsdAtQuote(record.terms, { chainId: chain.id, ...fact });
    const confirmations = confirmationsOf(chain, knownUsd, exposure.usd);
    if (confirmAtBlock(fact.blockNumber, confirmations) > headNumber) continue;
    const { requestId } = record.terms;
    const state = { ...record.state, name: "fillable", depositId: NOT_STORED } as const;
    planAhead(
      { ...record, state },
      {
        ...sightingOf(fact),
        id: NOT_STORED,
        chainId: chain.id,
        orderId: record.terms.orderId,
        blockNumber: fact.blockNumber,
        canonical: true,
        confirmAtBlock: confirmAtBlock(fact.blockNumber, confirmations),
        requestId,
        disposition: "accepted",
        reason: undefined,
        refundState: "none",
        refundFailReason: undefined,
        seenAtMs,
      },
    );
  }
}
