import type { EndpointState, EndpointStatus } from "@causeway/chains";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ChainDirectory } from "../chains/chains.port.ts";

const STATES: readonly EndpointState[] = [
  "ok",
  "lagging",
  "ahead",
  "slow",
  "paused",
  "failing",
  "wrongChain",
];

/** The state and the newest block of each endpoint of all chains, by host. */
export function endpointGauges(
  registry: Registry,
  chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
): void {
  const everyEndpoint = (): readonly (EndpointStatus & { readonly chain: string })[] =>
    [...chains.evmChains, ...chains.nonEvmChains].flatMap(({ chain, pulse }) =>
      (pulse.endpoints?.() ?? []).map((status) => ({ ...status, chain: chain.name })),
    );
  void new Gauge({
    name: "causeway_endpoint_state",
    help: "1 for the present state of each chain endpoint, 0 for the others",
    labelNames: ["chain", "endpoint", "state"],
    registers: [registry],
    collect(): void {
      for (const { chain, host, state: present } of everyEndpoint())
        for (const state of STATES) this.set({ chain, endpoint: host, state }, state === present ? 1 : 0);
    },
  });
  void new Gauge({
    name: "causeway_endpoint_head",
    help: "Number of the newest block that each chain endpoint announced",
    labelNames: ["chain", "endpoint"],
    registers: [registry],
    collect(): void {
      for (const { chain, host, headNumber } of everyEndpoint())
        if (headNumber !== undefined) this.set({ chain, endpoint: host }, Number(headNumber));
    },
  });
}
