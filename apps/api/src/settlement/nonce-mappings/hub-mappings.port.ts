import type { Address, Hex, Hex32 } from "@causeway/domain";
import type { HubCall } from "../hub.port.ts";

/** The hub's nonce mappings. @throws RpcFault */
export interface HubMappings {
  /** Verifying contract of the EIP-712 domain, with {@link chainId}. */
  readonly contract: Address;
  readonly chainId: number;
  /** At a final block. */
  entry(
    user: Address,
    id: Hex32,
  ): Promise<{ readonly data: Hex; readonly setAt: bigint; readonly asOf: bigint }>;
  /** The call that sets entries, with enough gas. */
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
