import type { HubMappings } from "./hub-mappings.port.ts";
import type { NonceMappingStore } from "../../chains/nonce-mappings.port.ts";
import type { SettlementServices } from "../settlement-services.port.ts";

/** Dependencies of publishing nonce mappings: settlement's, and the hub's mapping contract. */
export interface MappingServices extends Pick<
  SettlementServices,
  | "clock"
  | "events"
  | "signer"
  | "uow"
  | "reads"
  | "hub"
  | "sendAsPayment"
  | "oracles"
  | "settlement"
  | "settlementPolicy"
> {
  readonly mappings: HubMappings;
  readonly nonceMappingStore: NonceMappingStore;
  /** The oracles' name of a chain. Undefined for a chain that is no longer configured. */
  readonly chainName: (chainId: number) => string | undefined;
}
