import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";

/** Opens the lane of a non-EVM chain's payments: its nonces are a counter of ours, unknown to the chain. */
export async function openRailLane(
  { uow }: Pick<Services, "uow">,
  { chain, rail }: Pick<ConnectedRail, "chain" | "rail">,
): Promise<void> {
  await uow.run((tx) => tx.lanes.open(chain.id, rail.solver, 0));
}
