import type { MappingServices } from "./mapping-services.port.ts";
import type { NonceMappingRecord } from "../../chains/nonce-mappings.port.ts";
import { entryOf } from "./known-nonces.ts";

/**
 * Stores the hub's final entry of a nonce, whether it is our mapping or a different one that the wallet also
 * signed.
 * @returns false if the hub has no entry yet
 * @throws RpcFault
 */
export async function settleMapping(
  { mappings, uow, clock, events }: Pick<MappingServices, "mappings" | "uow" | "clock" | "events">,
  chainName: string,
  record: NonceMappingRecord,
): Promise<boolean> {
  const { mapped, isSet } = await entryOf(mappings, chainName, record.wallet, record.nonce);
  if (!isSet) return false;
  const isOurs = mapped?.id === record.id && mapped.depositor === record.depositor;
  const nowMs = clock.nowMs();
  await uow.run((tx) =>
    tx.nonceMappings.settle(record.key, isOurs ? "published" : "contradicted", mapped, nowMs),
  );
  const facts = { requestId: record.requestId, wallet: record.wallet, nonce: record.nonce };
  if (isOurs) events.happened("nonce_published", facts);
  else events.alarm("nonce_contradicted", { ...facts, id: mapped?.id });
  return true;
}
