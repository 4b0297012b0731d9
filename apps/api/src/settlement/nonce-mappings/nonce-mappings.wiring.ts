import type { NonceMappings } from "@causeway/chains";
import type { Lifecycle } from "@causeway/service-kit";
import type { NonceMappingReads } from "../../chains/nonce-mappings.port.ts";
import type { ApiConfig } from "../../config/config.ts";
import type { Clock } from "../../db/clock.port.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import type { SettlementServices } from "../settlement-services.port.ts";
import { connectHubMappings } from "./evm-hub-mappings.adapter.ts";
import type { HubMappings } from "./hub-mappings.port.ts";
import { entryOf, knownNonces } from "./known-nonces.ts";
import type { MappingServices } from "./mapping-services.port.ts";
import { nonceMappingStore } from "./nonce-mapping-rows.postgres.ts";

/** How this process reads and publishes nonce mappings. */
export interface NonceMappingAccess {
  /** Undefined if no enabled chain needs nonce mappings. */
  readonly reads: NonceMappingReads | undefined;
  /** Reads of the hub's mappings, for the chain adapters. Undefined without the hub's contract. */
  readonly ofHub: NonceMappings | undefined;
  /** The dependencies of publishing to the hub. Undefined without the hub's contract. */
  publishing(settling: SettlementServices): MappingServices | undefined;
}

const NO_ACCESS: NonceMappingAccess = { reads: undefined, ofHub: undefined, publishing: () => undefined };

export function nonceMappingAccess({
  config,
  clock,
  sql,
  lifecycle,
}: {
  readonly config: Pick<ApiConfig, "nonEvmChains" | "settlement">;
  readonly clock: Clock;
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
}): NonceMappingAccess {
  const names = new Map(
    config.nonEvmChains.flatMap(({ chain }) =>
      chain.needsNonceMappings === true ? [[chain.id, chain.name] as const] : [],
    ),
  );
  if (names.size === 0) return NO_ACCESS;
  const chainName = (chainId: number): string | undefined => names.get(chainId);
  const stored = nonceMappingStore(sql);
  const mappings = hubMappings(config.settlement, lifecycle);
  return {
    reads: knownNonces({ clock, stored, hub: mappings, chainName }),
    ofHub: mappings && readsForAdapters(mappings),
    publishing: (settling) => mappings && { ...settling, mappings, nonceMappingStore: stored, chainName },
  };
}

function hubMappings(settlement: ApiConfig["settlement"], lifecycle: Lifecycle): HubMappings | undefined {
  const contract = settlement?.hub.genericMappingAddress;
  if (settlement === undefined || contract === undefined) return undefined;
  const mappings = connectHubMappings(settlement.hub, contract);
  lifecycle.add("hub's mapping", () => mappings.close());
  return mappings;
}

function readsForAdapters(mappings: HubMappings): NonceMappings {
  return {
    async of(chainName, wallet, nonce) {
      const { mapped, asOf } = await entryOf(mappings, chainName, wallet, nonce);
      return { entry: mapped, asOf };
    },
  };
}
