import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { openNonEvmLane } from "../../apps/api/src/payments/non-evm/open-lane.ts";
import { loseRows } from "./lost-rows.ts";
import type { AgreedOnNonEvmChains, NonEvmWorld } from "./non-evm-world.ts";

/**
 * A request on non-EVM chains whose fill was sent. A failover then lost the rows of the fill, unless
 * `isLostNow` is false.
 */
export async function lostFill(
  world: NonEvmWorld,
  by: WorkerServices,
  isLostNow = true,
): Promise<AgreedOnNonEvmChains> {
  const agreed = await world.agree();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin, by);
  await world.work(by);
  const slot = await by.reads.slotOfLeg("fill", agreed.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  if (isLostNow) await forgetPayments(world);
  return agreed;
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
export async function openAndRound(world: NonEvmWorld, by: WorkerServices): Promise<void> {
  world.clock.forward(20_000);
  for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  await world.round(by);
}
