import type { HubMappings } from "./hub-mappings.port.ts";
import type { NonceMappingStore } from "../../chains/nonce-mappings.port.ts";
import type { SettlementServices } from "../settlement-services.port.ts";

/** What bringing wallets' words to the hub stands on: what settlement has, and the hub's mapping. */
export interface MappingServices extends Pick<
  SettlementServices,
  "clock" | "events" | "signer" | "uow" | "hub" | "oracles" | "settlementPolicy"
> {
  readonly mappings: HubMappings;
  readonly said: NonceMappingStore;
  /** Name by which oracles know a chain; undefined for one that this instance does not have any more. */
  readonly chainName: (chainId: number) => string | undefined;
}
