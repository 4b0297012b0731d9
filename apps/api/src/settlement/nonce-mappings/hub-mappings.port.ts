import type { Address, Hex, Hex32 } from "@causeway/domain";
import type { HubCall } from "../hub.port.ts";

/** The hub's mapping. @throws RpcFault */
export interface HubMappings {
  /** Name of the contract's domain, with {@link chainId}. */
  readonly contract: Address;
  readonly chainId: number;
  /** At a final block. */
  entry(
    user: Address,
    id: Hex32,
  ): Promise<{ readonly data: Hex; readonly setAt: bigint; readonly asOf: bigint }>;
  /** The call that sets entries, and gas that suffices. */
  publish(entries: readonly PublishedEntry[], threshold: number): HubCall;
  close(): Promise<void>;
}

export interface PublishedEntry {
  readonly user: Address;
  readonly id: Hex32;
  readonly data: Hex;
  readonly nonce: Hex32;
  readonly signature: Hex;
}
