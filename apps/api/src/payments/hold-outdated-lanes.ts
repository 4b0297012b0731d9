import type { Address } from "@causeway/domain";
import { drainingSigners } from "../chains/index.ts";
import { FormerPrimary } from "../db/server-replaced.port.ts";
import type { WorkerServices } from "../db/services.port.ts";

/**
 * Holds every lane, including those of former keys, for which the journal has payments that the database
 * lacks: a restored snapshot lacks payments even though its server looks the same. Holds all lanes if the
 * journal does not answer. Call before any payment is planned. The watcher of each chain restores the lost
 * payments and opens the lane.
 * @throws FormerPrimary, an error of the database: nothing may be planned
 */
export async function holdOutdatedLanes(services: WorkerServices): Promise<void> {
  const { journal, events, reads, uow } = services;
  if (journal === undefined) return;
  for (const { chainId, sender } of lanesOf(services)) {
    // The row is read twice: the first read identifies the server, so that `mark` can fence off former
    // primaries; the row that is compared with the mark must be newer than the mark.
    await reads.lane(chainId, sender);
    const mark = await journal.mark(chainId, sender).catch((error: unknown) => {
      if (error instanceof FormerPrimary) throw error;
      events.fault("journal_fault", error, { chainId, sender });
      return Infinity;
    });
    const lane = await reads.lane(chainId, sender);
    if (lane?.isReconciled === true && mark !== undefined && mark > lane.nextNonce)
      await uow.run((tx) => tx.lanes.hold(chainId, sender));
  }
}

function lanesOf(
  services: WorkerServices,
): readonly { readonly chainId: number; readonly sender: Address }[] {
  const { chains } = services;
  return [
    ...chains.evmChains.flatMap(({ chain }) =>
      drainingSigners(services).map(({ address }) => ({ chainId: chain.id, sender: address })),
    ),
    ...chains.nonEvmChains.map(({ chain, connection }) => ({ chainId: chain.id, sender: connection.solver })),
  ];
}
