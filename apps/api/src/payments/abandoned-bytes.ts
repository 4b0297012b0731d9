import type { Hex } from "@causeway/domain";
import type { WorkerServices } from "../db/services.port.ts";
import type { Lane } from "./payers/payer.ts";

/**
 * The newest bytes of payments that a failover lost and whose legs could not restore them, by nonce (`from`
 * to below `to`). They may still be mined, so nothing else may be signed for their nonces.
 * @throws an error of Redis
 */
export async function abandonedBytes(
  { reads, journal }: Pick<WorkerServices, "reads" | "journal">,
  { chainId, sender }: Lane,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, Hex>> {
  const users = journal === undefined ? undefined : await reads.nonceUsers(chainId, sender, from, to);
  if (journal === undefined || users === undefined || users.size === 0) return new Map();
  const entries = await journal.entries(chainId, sender);
  return new Map(
    entries.flatMap(({ nonce, attempts }) => {
      const raw = attempts.find(({ txHash }) => txHash === users.get(nonce)?.txHash)?.raw;
      return raw === undefined ? [] : [[nonce, raw] as const];
    }),
  );
}
