import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";

/**
 * Makes sure that the rail's payments have a lane: a running number of ours, which the chain knows nothing
 * of.
 */
export async function openRailLane(
  { uow }: Pick<Services, "uow">,
  { chain, rail }: Pick<ConnectedRail, "chain" | "rail">,
): Promise<void> {
  await uow.run((tx) => tx.lanes.open(chain.id, rail.solver, 0));
}
