import type { Address, Currency } from "@causeway/domain";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { UnsweptTotal } from "../deposits/addresses/deposit-addresses.port.ts";
import { depositAddressGauges } from "./deposit-address-gauges.ts";

const usdc: Address = `0x${"11".repeat(20)}`;
const total: UnsweptTotal = {
  chainId: 7,
  currency: usdc,
  held: "AMOUNT_TOO_LOW",
  places: 3,
  amount: 2_500_000n,
  oldestSeenAtMs: 40_000,
};

test("publishes count, sum and age of stuck funds by reason; drops resolved ones, and keeps unknown ones", async () => {
  const registry = new Registry();
  let answer: () => Promise<readonly UnsweptTotal[]> = async () => [total];
  depositAddressGauges(
    registry,
    { unswept: () => answer() },
    {
      get: () => ({ chain: { name: "base" } }) as unknown as ConnectedChain,
      currency: () => ({ symbol: "USDC", decimals: 6 }) as Currency,
    },
    { nowMs: () => 100_000 },
  );
  const labels = 'chain="base",currency="USDC",held="AMOUNT_TOO_LOW"';
  const shown = await registry.metrics();
  expect(shown).toContain(`causeway_deposit_addresses_unswept{${labels}} 3`);
  expect(shown).toContain(`causeway_deposit_addresses_unswept_amount{${labels}} 2.5`);
  expect(shown).toContain(`causeway_deposit_addresses_oldest_unswept_seconds{${labels}} 60`);
  answer = async () => await Promise.reject(new Error("the database is unreachable"));
  expect(await registry.metrics()).toContain(`causeway_deposit_addresses_unswept{${labels}} 3`);
  answer = async () => [];
  expect(await registry.metrics()).not.toContain(labels);
});
