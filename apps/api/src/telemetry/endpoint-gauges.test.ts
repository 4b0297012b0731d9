import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { endpointGauges } from "./endpoint-gauges.ts";

test("publishes the state and the newest block of every endpoint, by host", async () => {
  const registry = new Registry();
  const endpoint = { host: "one.example", state: "ok", isLead: true, headNumber: 7n, latencyMs: 1 };
  const pulse = { endpoints: () => [endpoint] };
  endpointGauges(registry, {
    evmChains: [{ chain: { name: "base" }, pulse }],
    nonEvmChains: [],
  } as unknown as ChainDirectory);
  const state = (text: string, value: number) =>
    `causeway_endpoint_state{chain="base",endpoint="one.example",state="${text}"} ${value}`;
  expect(await registry.metrics()).toContain(state("ok", 1));
  Object.assign(endpoint, { state: "failing" });
  const text = await registry.metrics();
  expect(text).toContain(state("ok", 0));
  expect(text).toContain(state("failing", 1));
  expect(text).toContain('causeway_endpoint_head{chain="base",endpoint="one.example"} 7');
});
