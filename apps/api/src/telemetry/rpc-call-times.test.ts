import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { rpcCallTimes } from "./rpc-call-times.ts";

test("times calls by chain, endpoint host and outcome, and publishes nothing else of a URL", async () => {
  const registry = new Registry();
  const observe = rpcCallTimes(registry);
  observe("base", "https://user:pass@rpc.example:8545/v2/key?token=k")("eth_call", "ok", 40);
  observe("base", "https://rpc.example:8545/other")("eth_getLogs", "ok", 600);
  observe("base", "https://rpc.example:8545")("eth_call", "fault", 10_001);
  observe("solana", "https://sol.example")("getSlot", "refused", 5);
  const text = await registry.metrics();
  const base = 'chain="base",endpoint="rpc.example:8545"';
  expect(text).toContain(`causeway_rpc_call_seconds_bucket{${base},outcome="ok",le="0.05"} 1`);
  expect(text).toContain(`causeway_rpc_call_seconds_count{${base},outcome="ok"} 2`);
  expect(text).toContain(`causeway_rpc_call_seconds_count{${base},outcome="fault"} 1`);
  expect(text).toContain('{chain="solana",endpoint="sol.example",outcome="refused"} 1');
  expect(text).not.toMatch(/user|pass@|key|token|other/);
});
