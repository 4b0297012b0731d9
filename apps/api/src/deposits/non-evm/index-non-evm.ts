import type { TxHash } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";
import { unseenTransaction } from "../unseen-transaction.ts";
import type { RecordingServices } from "../apply-deposit.ts";
import { describeIndexed, type UnattributedServices } from "../../requests/index.ts";
import { applyNonceMappings, recordArrivals } from "./record-arrivals.ts";
import { withinNodeLimit } from "../../db/within-node-limit.ts";

type Needs = RecordingServices & UnattributedServices & Pick<Services, "uow" | "nonceMappings">;

const MAX_DEPOSITS = 20;

/**
 * Records the final deposits of a reported transaction on a non-EVM chain, ahead of the watcher.
 * @throws ServiceError TRANSACTION_NOT_FOUND while no node knows it, SERVICE_UNAVAILABLE while clients' share
 * of the node's rate limit is used up; RpcFault
 */
export async function indexNonEvm(
  services: Needs,
  { chain, connection }: Pick<ConnectedNonEvmChain, "chain" | "connection">,
  txHash: TxHash,
): Promise<{ message: string }> {
  const arrivals = await withinNodeLimit(chain, "txHash", () => connection.arrivalsOf(txHash));
  if (arrivals.kind === "absent") throw unseenTransaction(txHash);
  if (arrivals.kind === "notFinal") return { message: "Transaction seen, waiting for finality" };
  const { deposits, upTo } = arrivals;
  if (deposits.length === 0) return { message: "Transaction contains no deposit" };
  if (deposits.length > MAX_DEPOSITS)
    return { message: "Transaction will be indexed when its block is scanned" };
  const mappedFacts = await applyNonceMappings(services, chain, deposits, upTo);
  await services.uow.run(async (tx) => {
    await tx.nonEvm.lockCursor(chain.id);
    await recordArrivals(services, tx, chain, mappedFacts, { upTo, seenAtMs: services.clock.nowMs() });
  });
  return await describeIndexed(services, chain.id, txHash);
}
