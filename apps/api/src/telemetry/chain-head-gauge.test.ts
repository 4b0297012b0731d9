import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { chainHeadGauge } from "./chain-head-gauge.ts";

test("publishes the age of the newest block of every chain of any family", async () => {
  const registry = new Registry();
  let ageMs = 2_000;
  const connected = (name: string) => ({ chain: { name }, pulse: { headAgeMs: () => ageMs } });
  chainHeadGauge(registry, {
    evmChains: [connected("base")],
    nonEvmChains: [connected("solana")],
  } as unknown as ChainDirectory);
  expect(await registry.metrics()).toContain('causeway_chain_head_age_seconds{chain="base"} 2');
  ageMs = 90_000;
  const text = await registry.metrics();
  expect(text).toContain('causeway_chain_head_age_seconds{chain="base"} 90');
  expect(text).toContain('causeway_chain_head_age_seconds{chain="solana"} 90');
});
