import { nonceMappingSlot, readNonceMappingData } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { HubMappings } from "./hub-mappings.port.ts";
import type { MappedNonce, NonceMappingReads, NonceMappingStore } from "../../chains/nonce-mappings.port.ts";

/** Sources of nonce mappings. */
export interface NonceSources {
  readonly clock: Clock;
  readonly stored: Pick<NonceMappingStore, "find">;
  /** Without it, this instance has no hub, and stored mappings count at once. */
  readonly hub: Pick<HubMappings, "entry"> | undefined;
  /** Undefined for a chain whose transfers carry ids. */
  readonly chainName: (chainId: number) => string | undefined;
}

/**
 * Looks up nonce mappings. Asks the hub even about nonces without a stored mapping: its entries bind the
 * oracles, no matter who set them, and a deposit that belongs to an order must not be returned as unknown.
 */
export function knownNonces({ clock, stored, hub, chainName }: NonceSources): NonceMappingReads {
  const read: NonceMappingReads["read"] = async (chainId, wallet, nonce) => {
    const record = await stored.find(chainId, wallet, nonce);
    const nowSeconds = BigInt(Math.floor(clock.nowMs() / 1000));
    if (hub === undefined)
      return {
        mapped: record && {
          id: record.id,
          depositor: record.depositor,
          setAt: BigInt(Math.floor(record.createdAtMs / 1000)),
        },
        asOf: nowSeconds,
      };
    // Permanent: hub entries cannot change.
    if (record?.mapped !== undefined) return { mapped: record.mapped, asOf: record.mapped.setAt };
    const name = chainName(chainId);
    if (name === undefined) return { mapped: undefined, asOf: nowSeconds };
    const { mapped, asOf } = await entryOf(hub, name, wallet, nonce);
    return { mapped, asOf };
  };
  return { read, find: async (...nonce) => (await read(...nonce)).mapped };
}

/** The hub's entry of a nonce at its final block. @throws RpcFault */
export async function entryOf(
  hub: Pick<HubMappings, "entry">,
  chainName: string,
  wallet: Address,
  nonce: bigint,
): Promise<{
  readonly mapped: MappedNonce | undefined;
  /** An entry exists, even if its value is meaningless. */
  readonly isSet: boolean;
  readonly asOf: bigint;
}> {
  const { user, id } = nonceMappingSlot(chainName, wallet, nonce);
  const { data, setAt, asOf } = await hub.entry(user, id);
  const mapping = readNonceMappingData(data);
  return {
    mapped: mapping && { id: mapping.id, depositor: mapping.depositor ?? wallet, setAt },
    isSet: setAt > 0n,
    asOf,
  };
}
