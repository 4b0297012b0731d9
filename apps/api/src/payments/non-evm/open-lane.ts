import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { readMark, openReconciled, restoreLost } from "../restore-lost.ts";
import { releaseLostPayments } from "./release-lost-payments.ts";

/**
 * Opens the lane of a non-EVM chain's payments: its nonces are a counter of ours, unknown to the chain.
 * Restores payments that a failover has lost. Without a journal nothing shows which were lost: then the lane
 * is held until the operator opens it.
 */
export async function openNonEvmLane(services: WorkerServices, connected: TransferChain): Promise<void> {
  const { reads, events } = services;
  const {
    chain,
    connection: { solver },
  } = connected;
  const laneKey = { chainId: chain.id, sender: solver };
  const journalMark = await readMark(services, laneKey);
  if (journalMark === undefined) return;
  const { mark } = journalMark;
  const stored = await reads.lane(chain.id, solver);
  const lost = stored && (await restoreLost(services, laneKey, stored, mark, whyLost));
  const unchanged = lost?.kind === "complete" ? lost.lane : undefined;
  const lane = stored && (unchanged ?? (await reads.lane(chain.id, solver)));
  if (lane?.isServerNew === true) return;
  const why = lost?.kind === "later" ? lost.why : lane && !lane.isReconciled && whyLost(lane.nextNonce, mark);
  if (typeof why === "string") {
    events.alarm("lane_held", { chain: chain.name, sender: solver, why });
    return;
  }
  await openReconciled(services, laneKey, lane, 0, mark);
  if (lane !== undefined) await releaseLostPayments(services, connected, lane.nextNonce);
}

const HOW_TO_OPEN = '(docs/operations/backups.md, "Held lanes")';

function noncesText(first: number, last: number): string {
  return first === last ? `payment with nonce ${first}` : `payments with nonces ${first} to ${last}`;
}

/** Why payments may have been lost without a trace; undefined: none were. */
function whyLost(nextNonce: number, mark: number | undefined): string | undefined {
  if (mark === undefined && nextNonce > 0)
    return `Redis has lost the journal of payments: compare the solver's history with \`slots\`, then open the lane ${HOW_TO_OPEN}`;
  if (mark !== undefined && mark > nextNonce)
    return `neither the database nor the journal has the ${noncesText(nextNonce, mark - 1)}: compare the solver's history with \`slots\` and restore the missing rows; payments that were never broadcast have none. Then set \`next_nonce\` of the lane to ${mark} ${HOW_TO_OPEN}`;
  return undefined;
}
