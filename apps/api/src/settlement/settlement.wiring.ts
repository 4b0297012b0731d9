import type { Lifecycle } from "@causeway/service-kit";
import type { ObserveEndpoint } from "../chains/observe-endpoint.port.ts";
import type { ApiConfig, SettlementConfig } from "../config/config.ts";
import type { Lead } from "../db/leadership.port.ts";
import { sendSolverCall } from "../payments/index.ts";
import type { SettlementContracts } from "../payments/policy/limits.port.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { restrictSigners } from "./restrict-signers.adapter.ts";
import { connectHub } from "./evm-hub.adapter.ts";
import type { HubChain } from "./hub.port.ts";
import { createHttpOracle } from "./http-oracle.adapter.ts";
import { submitMappings } from "./nonce-mappings/submit-mappings.ts";
import type { MappingServices } from "./nonce-mappings/mapping-services.port.ts";
import type { NonceMappingAccess } from "./nonce-mappings/nonce-mappings.wiring.ts";
import { signMappings } from "./nonce-mappings/sign-mappings.ts";
import { settlementReads } from "./settlement-reads.postgres.ts";
import { settlePayments } from "./settle.job.ts";
import type { SettlementServices } from "./settlement-services.port.ts";
import type { SettlementReads } from "./settlement.port.ts";

/** Connects the hub and the oracles. Settlement shares these connections with nothing else. */
export function settlementServices(
  services: Pick<
    SettlementServices,
    "clock" | "events" | "signer" | "formerSigners" | "uow" | "reads" | "chains"
  >,
  settlement: SettlementReads,
  config: SettlementConfig,
  observe?: ObserveEndpoint,
): SettlementServices {
  const hub = connectHub(config.hub, services.clock, config.multisig, {
    ...(observe !== undefined && { observe: (url) => observe(config.hub.name, url) }),
    onDisagreement: (question, endpoints) =>
      services.events.alarm("endpoints_disagree", {
        chain: config.hub.name,
        question,
        endpoints: endpoints.join(", "),
      }),
  });
  return {
    ...services,
    hubContracts: hubContractsOf(config),
    hub: restrictSigners(hub, config.signers),
    oracles: config.oracles.map(({ url, apiKey }) =>
      createHttpOracle({ url, apiKey: apiKey?.reveal() }, { timeoutMs: config.oracleTimeoutMs }),
    ),
    settlement,
    settlementPolicy: config.policy,
  };
}

/** The contracts that the solver's calls on the hub go to. @param config undefined: no hub */
export function hubContractsOf(config: Pick<SettlementConfig, "hub"> | undefined): SettlementContracts {
  if (config === undefined) return { chainId: undefined, addresses: [] };
  const { chainId, oracleAddress, genericMappingAddress } = config.hub;
  return { chainId, addresses: [oracleAddress, ...(genericMappingAddress ? [genericMappingAddress] : [])] };
}

/** Metrics of a worker that settles. */
export interface Settling {
  readonly hub: HubChain;
  /** Undefined: this instance publishes no nonce mappings. */
  readonly publishing: MappingServices | undefined;
}

/** Settles payments on the hub and publishes nonce mappings. Undefined: settlement is not configured. */
export function startSettlement(
  services: WorkerServices & {
    readonly config: Pick<ApiConfig, "settlement">;
    readonly sql: Sql;
    readonly lifecycle: Lifecycle;
    readonly observeEndpoint: ObserveEndpoint;
    readonly nonceMappingAccess: NonceMappingAccess;
  },
  lead: Lead,
): Settling | undefined {
  const { config, sql, lifecycle } = services;
  if (config.settlement === undefined) return undefined;
  const { hub } = config.settlement;
  const enabled = services.chains.get(hub.chainId);
  const settling: SettlementServices = {
    ...settlementServices(services, settlementReads(sql), config.settlement, services.observeEndpoint),
    sendAsPayment: enabled && (async (call) => await sendSolverCall(services, enabled, call)),
  };
  lifecycle.add("hub", () => settling.hub.close());
  const publishing = services.nonceMappingAccess.publishing(settling);
  const settler = settlePayments(
    settling,
    lead,
    publishing && [(stop) => signMappings(publishing, stop), () => submitMappings(publishing)],
  );
  lifecycle.add("settlement", () => settler.close());
  return { hub: settling.hub, publishing };
}
