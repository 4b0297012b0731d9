import { RpcFault, connectEvmChain, type EvmConnection } from "@causeway/chains";
import type { Address, Chain } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig } from "../config/config.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { Services } from "../db/services.port.ts";
import { accountsOn } from "./accounts-on.ts";
import type { ConnectedChain } from "./chains.port.ts";
import type { OwnKeys } from "./lane-signers.ts";
import { createNodeLatency } from "./node-latency.adapter.ts";
import type { ObserveEndpoint } from "./observe-endpoint.port.ts";
import { createChainPulse } from "./pulse.adapter.ts";
import { reportUnrequestedLogs } from "./unrequested-logs.adapter.ts";

/** Gas prices and balances expire after this many blocks, but never sooner than the minimum. */
const PULSE_MAX_AGE_BLOCKS = 5;
const PULSE_MIN_MAX_AGE_MS = 30_000;
const PULSE_QUIET_REFRESH_MS = 5_000;
/**
 * Pause between a head and reading prices and balances, so that the block's deposits are read and most fills
 * are sent first.
 */
const PULSE_AFTER_HEAD_MS = 50;

/** An EVM chain with its full connection, which adapters may read pools and probe tokens with. */
export interface EvmChain extends ConnectedChain {
  readonly connection: EvmConnection;
}

interface ChainNeeds extends Pick<Services, "clock" | "events">, OwnKeys {
  readonly config: Pick<ApiConfig, "chains" | "settlement">;
  readonly lifecycle: Lifecycle;
  readonly observeEndpoint: ObserveEndpoint;
}

/**
 * Connects the enabled EVM chains. A node that does not respond now is retried later.
 * @throws RpcFault of kind `wrongChain` when a node serves a different chain than configured
 */
export async function connectChains(needs: ChainNeeds): Promise<readonly EvmChain[]> {
  return await Promise.all(needs.config.chains.map((chain) => connectChain(chain, needs)));
}

async function connectChain(
  chain: Chain,
  { config, clock, events, lifecycle, observeEndpoint, ...accounts }: ChainNeeds,
): Promise<EvmChain> {
  const facts = { chain: chain.name };
  const latency = createNodeLatency((isSlow, medianMs) => {
    if (isSlow) events.alarm("node_slow", { ...facts, medianMs });
    else events.happened("node_recovered", { ...facts, medianMs });
  });
  const connection = connectEvmChain(chain, {
    observe: (url) => {
      const observe = observeEndpoint(chain.name, url);
      return (...call) => {
        latency.observe(...call);
        observe(...call);
      };
    },
    now: () => clock.nowMs(),
    onFault: (fault, endpoint) =>
      events.fault("chain_fault", fault, { ...facts, ...(endpoint !== undefined && { endpoint }) }),
    onDisagreement: (question, endpoints) =>
      events.alarm("endpoints_disagree", { ...facts, question, endpoints: endpoints.join(", ") }),
    ...(config.settlement !== undefined && { attestation: config.settlement.hub }),
    onUnrequestedLogs: reportUnrequestedLogs(events, chain.name),
    onIgnoredLogs: (ignored) => events.alarm("log_ignored", { ...facts, count: ignored.length }),
  });
  lifecycle.add(`chain ${chain.name}`, () => connection.close());
  const pulse = createChainPulse({
    afterHeadMs: PULSE_AFTER_HEAD_MS,
    chain,
    connection,
    clock,
    monotonic: monotonicClock,
    solver: accounts.signer.address,
    gasPayers: gasPayersOf(accounts),
    maxAgeMs: Math.max(PULSE_MAX_AGE_BLOCKS * chain.blockTimeSeconds * 1000, PULSE_MIN_MAX_AGE_MS),
    quietRefreshMs: PULSE_QUIET_REFRESH_MS,
    latencyMs: latency.medianMs,
    endpoints: connection.endpoints,
    readEffectsView: connection.effectsView,
    onEffectsView: (view) => {
      if (view === "unseen") events.alarm("effects_unseen", facts);
    },
    onFault: (fault) => events.fault("chain_fault", fault, { ...facts, part: "pulse" }),
  });
  lifecycle.add(`pulse of ${chain.name}`, () => pulse.close());
  try {
    await connection.verify();
    await pulse.refresh();
  } catch (error) {
    // A wrong chain is a configuration error; an unavailable node recovers.
    if (error instanceof RpcFault && error.kind === "wrongChain") throw error;
    events.fault("chain_fault", error, { ...facts, at: "start" });
  }
  return { chain, connection, pulse, users: accountsOn(chain, connection) };
}

function gasPayersOf({ executor, depositAddressOperator }: OwnKeys): readonly Address[] {
  return [executor, depositAddressOperator].flatMap((account) => account?.address ?? []);
}
