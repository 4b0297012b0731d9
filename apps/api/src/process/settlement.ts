import { acceptingOnly } from "../settlement/accepting-only.adapter.ts";
import { connectHub } from "../settlement/evm-hub.adapter.ts";
import { createHttpOracle } from "../settlement/http-oracle.adapter.ts";
import type { ObserveEndpoint } from "../telemetry/rpc-call-times.ts";
import type { SettlementConfig } from "../config/config.ts";
import type { SettlementReads } from "../settlement/settlement.port.ts";
import type { SettlementServices } from "../settlement/settlement-services.port.ts";

/** Settlement speaks to the hub and the oracles on connections of its own. */
export function settlementServices(
  services: Pick<SettlementServices, "clock" | "events" | "signer" | "formerSigners" | "uow" | "chains">,
  settlement: SettlementReads,
  config: SettlementConfig,
  observe?: ObserveEndpoint,
): SettlementServices {
  const hub = connectHub(config.hub, services.clock, config.multisig, {
    ...(observe !== undefined && { onCall: observe(config.hub.name, config.hub.rpcUrl) }),
  });
  return {
    ...services,
    hub: acceptingOnly(hub, config.signers),
    oracles: config.oracles.map(({ url, apiKey }) =>
      createHttpOracle({ url, apiKey: apiKey?.reveal() }, { timeoutMs: config.oracleTimeoutMs }),
    ),
    settlement,
    settlementPolicy: config.policy,
  };
}
