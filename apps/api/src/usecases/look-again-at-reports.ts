import { RpcFault } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import { indexTransaction } from "./index-transaction.ts";

type Needs = Parameters<typeof indexTransaction>[0];

/** Requests looked at in one round; each costs a few calls to a node. */
const BATCH = 50;

/**
 * Looks at the origin transactions that users reported for requests past their deadline, before these are told that nothing came.
 * @returns the requests whose transactions a node could tell about: a deposit among them is recorded now
 */
export async function lookAgainAtReports(services: Needs, deadlineBeforeMs: number): Promise<RequestId[]> {
  const reported = await services.reads.overdueReported(deadlineBeforeMs, BATCH);
  const looked = await Promise.all(
    reported.map(async ({ requestId, chainId, txHashes }) => {
      try {
        for (const txHash of txHashes) await lookAt(services, { chainId, txHash, requestId });
        return [requestId];
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
        services.events.fault("chain_fault", error, { requestId });
        return [];
      }
    }),
  );
  return looked.flat();
}

async function lookAt(services: Needs, report: Parameters<typeof indexTransaction>[1]): Promise<void> {
  try {
    await indexTransaction(services, report);
  } catch (error) {
    // Not known to the node, or on a chain that was disabled: there is nothing to record.
    if (!(error instanceof ServiceError)) throw error;
  }
}
