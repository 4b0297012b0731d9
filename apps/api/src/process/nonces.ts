import { hubAlias, nonceMappingId, readNonceMappingData } from "@causeway/attest";
import type { NonceMappings } from "@causeway/chains";
import type { Lifecycle } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { connectHubMappings } from "../settlement/nonce-mappings/evm-hub-mappings.adapter.ts";
import { nonceMappingStore } from "../settlement/nonce-mappings/nonce-mapping-rows.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { mappingGauges } from "../telemetry/mapping-gauges.ts";
import type { ApiConfig } from "../config/config.ts";
import type { Clock } from "../db/clock.port.ts";
import type { MappingServices } from "../settlement/nonce-mappings/mapping-services.port.ts";
import type { HubMappings } from "../settlement/nonce-mappings/hub-mappings.port.ts";
import type { NonceMappingReads, NonceMappingStore } from "../chains/nonce-mappings.port.ts";
import type { SettlementServices } from "../settlement/settlement-services.port.ts";
import { knownNonces } from "../settlement/nonce-mappings/known-nonces.ts";

/** What is known of wallets' nonces. */
export interface Nonces {
  readonly reads: NonceMappingReads;
  /** The same in the words of chain adapters; undefined without a hub's mapping. */
  readonly ofHub: NonceMappings | undefined;
  /** What brings wallets' words to the hub's mapping, watched by the metrics; undefined without one. */
  publishing(settling: SettlementServices, registry: Registry): MappingServices | undefined;
}

/** Undefined where no chain needs it: no transfer of any chain here lacks an id of its own. */
export function nonces(
  config: Pick<ApiConfig, "rails" | "settlement">,
  { clock, sql, lifecycle }: { readonly clock: Clock; readonly sql: Sql; readonly lifecycle: Lifecycle },
): Nonces | undefined {
  const names = new Map(
    config.rails.flatMap(({ chain }) =>
      chain.family === "hyperliquid-vm" ? [[chain.id, chain.name] as const] : [],
    ),
  );
  if (names.size === 0) return undefined;
  const chainName = (chainId: number): string | undefined => names.get(chainId);
  const stored: NonceMappingStore = nonceMappingStore(sql);
  const hub = config.settlement?.hub;
  const contract = hub?.genericMappingAddress;
  let mappings: HubMappings | undefined;
  if (hub !== undefined && contract !== undefined) {
    mappings = connectHubMappings(hub, contract);
    const opened = mappings;
    lifecycle.add("hub's mapping", () => opened.close());
  }
  return {
    reads: knownNonces({ clock, stored, hub: mappings, chainName }),
    ofHub: mappings && asAdaptersAsk(mappings),
    publishing(settling, registry) {
      if (mappings === undefined) return undefined;
      mappingGauges(registry, stored, clock);
      return { ...settling, mappings, said: stored, chainName };
    },
  };
}

function asAdaptersAsk(mappings: HubMappings): NonceMappings {
  return {
    async of(chainName, wallet, nonce) {
      const user = hubAlias({ name: chainName, vmType: "hyperliquid-vm" }, wallet);
      const { data, setAt, asOf } = await mappings.entry(user, nonceMappingId(nonce));
      const said = readNonceMappingData(data);
      return { entry: said && { ...said, setAt }, asOf };
    },
  };
}
