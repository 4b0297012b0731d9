import type { TransferChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { markOf, openReconciled, restoreLost } from "../restore-lost.ts";
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
  const of = { chainId: chain.id, sender: solver };
  const read = await markOf(services, of);
  if (read === undefined) return;
  const { mark } = read;
  const stored = await reads.lane(chain.id, solver);
  const lost = stored && (await restoreLost(services, of, stored, mark, whyLost));
  const unchanged = lost?.kind === "complete" ? lost.lane : undefined;
  const lane = stored && (unchanged ?? (await reads.lane(chain.id, solver)));
  if (lane?.isServerNew === true) return;
  const why = lost?.kind === "later" ? lost.why : lane && !lane.isReconciled && whyLost(lane.nextNonce, mark);
  if (typeof why === "string") {
    events.alarm("lane_held", { chain: chain.name, sender: solver, why });
    return;
  }
  await openReconciled(services, of, lane, 0, mark);
  if (lane !== undefined) await releaseLostPayments(services, connected, lane.nextNonce);
}

const HOW = '(docs/operations/backups.md, "Held lanes")';

function noncesText(first: number, last: number): string {
  return first === last ? `payment with nonce ${first}` : `payments with nonces ${first} to ${last}`;
}

/** Why payments may have been lost that nothing shows. */
function whyLost(nextNonce: number, mark: number | undefined): string | undefined {
  if (mark === undefined && nextNonce > 0)
    return `Redis has lost the journal of payments: compare the solver's history with \`slots\`, then open the lane ${HOW}`;
  if (mark !== undefined && mark > nextNonce)
    return `neither the database nor the journal has the ${noncesText(nextNonce, mark - 1)}: compare the solver's history with \`slots\` and restore the missing rows; payments that were never broadcast have none. Then set \`next_nonce\` of the lane to ${mark} ${HOW}`;
  return undefined;
}
