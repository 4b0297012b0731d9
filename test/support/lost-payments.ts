import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { openNonEvmLane } from "../../apps/api/src/payments/non-evm/open-lane.ts";
import { loseRows } from "./lost-rows.ts";
import type { NonEvmRequest, NonEvmWorld } from "./non-evm-world.ts";

/**
 * A request on non-EVM chains whose fill was sent. A failover then lost the rows of the fill, unless
 * `isLostNow` is false.
 */
export async function aLostFill(
  world: NonEvmWorld,
  processServices: WorkerServices,
  shouldForget = true,
): Promise<NonEvmRequest> {
  const request = await world.storeRequest();
  world.pay(request);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin, processServices);
  await world.work(processServices);
  const slot = await processServices.reads.slotOfLeg("fill", request.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  if (shouldForget) await forgetPayments(world);
  return request;
}

/** Deletes the rows of every open payment, and resets the requests to the state before the payments. */
export async function forgetPayments({
  services,
  pool,
}: Pick<NonEvmWorld, "services" | "pool">): Promise<void> {
  const open = await pool.query<{ id: string }>(
    "select id from slots where state = 'open' order by nonce desc",
  );
  for (const { id } of open.rows) {
    const slot = await services.reads.slot(id);
    if (slot === undefined) continue;
    await loseRows(pool, slot);
    await pool.query("update requests set state = 'fillable', tx_hashes = '{}' where request_id = $1", [
      slot.leg.requestId,
    ]);
  }
  await pool.query("update lanes set server = 'a former server'");
}

/** Opens the lanes again, as a process does when it starts, and then runs one round. */
export async function reopenLanesAndRunRound(
  world: NonEvmWorld,
  processServices: WorkerServices,
): Promise<void> {
  world.clock.forward(20_000);
  for (const connected of processServices.chains.nonEvmChains)
    await openNonEvmLane(processServices, connected);
  await world.round(processServices);
}
