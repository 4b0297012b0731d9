import { drainingSigners } from "../chains/index.ts";
import type { WorkerServices } from "../db/services.port.ts";

/**
 * Holds every lane, also of former keys, of which the journal knows more than the database: a restored
 * snapshot lacks payments although its server looks the same. Call before any payment is planned. The watcher
 * of each chain restores what is lost, and opens the lane.
 * @throws FormerPrimary, an error of Redis: nothing may be planned
 */
export async function holdBehind(services: WorkerServices): Promise<void> {
  const { journal, chains, reads, uow } = services;
  if (journal === undefined) return;
  const lanes = [
    ...chains.all.flatMap(({ chain }) =>
      drainingSigners(services).map(({ address }) => ({ chainId: chain.id, sender: address })),
    ),
    ...chains.nonEvmChains.map(({ chain, connection }) => ({ chainId: chain.id, sender: connection.solver })),
  ];
  for (const { chainId, sender } of lanes) {
    // Twice: the mark must be older than the row, and excludes former primaries of the server that answers.
    await reads.lane(chainId, sender);
    const mark = await journal.mark(chainId, sender);
    const lane = await reads.lane(chainId, sender);
    if (lane?.isReconciled === true && mark !== undefined && mark > lane.nextNonce)
      await uow.run((tx) => tx.lanes.hold(chainId, sender));
  }
}
