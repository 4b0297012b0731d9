import type { Head } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  NOW_MS,
  ORIGIN,
  quoteWorld,
  rareOn,
  usdcOn,
  type QuoteWorldOptions,
} from "../../../../test/fakes/quote-world.ts";
import type { ChainPulse } from "../chains/chains.port.ts";
import type { ScannedBlock } from "../db/reads.port.ts";
import { chainHealth } from "./chain-health.ts";
import { chainLiquidity } from "./chain-liquidity.ts";

const HEAD: Head = {
  number: 7n,
  hash: "0x01",
  parentHash: "0x00",
  timestamp: 1n,
  baseFeePerGas: 1n,
  seenAtMs: NOW_MS - 1_500,
};
const unknown = (): never => {
  throw new ServiceError("RPC_HTTP_ERROR", "nothing fresh");
};

/** Health of the origin chain with these facts. */
function health(
  world: QuoteWorldOptions,
  pulse: Partial<ChainPulse> = {},
  scanned: ScannedBlock | undefined = HEAD,
) {
  const { chains, clock } = quoteWorld(world);
  return chainHealth(
    {
      clock,
      chains: {
        nonEvm: () => undefined,
        get: (id) => {
          const connected = chains.get(id);
          return connected && { ...connected, pulse: { ...connected.pulse, head: () => HEAD, ...pulse } };
        },
      },
    },
    ORIGIN,
    scanned,
  );
}

test("a chain whose blocks arrive and are read is healthy", () => {
  expect(health({})).toEqual({
    healthy: true,
    chainId: ORIGIN,
    disabled: false,
    blockProductionLagging: false,
    pricesGas: true,
    blockNumber: "7",
    blockAgeMs: 1_500,
    scannedBlockNumber: "7",
    scanLagBlocks: 0,
    scanLagSeconds: 0,
    effects: null,
    nodeLatencyMs: null,
    endpoints: [],
  });
  expect(health({}, { latencyMs: () => 2_004 })).toMatchObject({ nodeLatencyMs: 2_004 });
  expect(health({}, { effectsView: () => "unseen" })).toMatchObject({ healthy: true, effects: "unseen" });
});

test("shows each endpoint of the chain by host, and which one leads", () => {
  const statuses = [
    { host: "one.example", state: "ok", isLead: true, headNumber: 7n, latencyMs: 12.4 },
    { host: "two.example", state: "failing", isLead: false, headNumber: undefined, latencyMs: undefined },
  ] as const;
  expect(health({}, { endpoints: () => statuses }).endpoints).toEqual([
    { host: "one.example", state: "ok", lead: true, blockNumber: "7", latencyMs: 12 },
    { host: "two.example", state: "failing", lead: false, blockNumber: null, latencyMs: null },
  ]);
});

test("a chain is not healthy while its newest blocks are not scanned for deposits", () => {
  const head = () => ({ ...HEAD, number: 500n, timestamp: 1_000n });
  expect(health({}, { head }, { number: 4n, timestamp: 8n })).toMatchObject({
    healthy: false,
    scannedBlockNumber: "4",
    scanLagBlocks: 496,
    scanLagSeconds: 992,
  });
});

test("a chain that is disabled, lags, or has no known gas price or head is not healthy", () => {
  expect(health({ origin: { disabled: true } })).toMatchObject({ healthy: false, disabled: true });
  expect(health({}, { isLagging: () => true })).toMatchObject({
    healthy: false,
    blockProductionLagging: true,
  });
  expect(health({}, { paymentCost: unknown })).toMatchObject({ healthy: false, pricesGas: false });
  expect(health({}, { head: () => undefined })).toMatchObject({
    healthy: false,
    blockNumber: null,
    blockAgeMs: null,
  });
});

test("liquidity is the solver's balance of bridged currencies minus pending payments, with its value", async () => {
  const { liquidity } = await chainLiquidity(
    quoteWorld({ inventory: 5_000_000n, reserved: 2_000_000n }),
    ORIGIN,
  );
  expect(liquidity.map(({ symbol }) => symbol)).toEqual(["ETH", "USDC", "WETH", "RARE"]);
  expect(liquidity[1]).toEqual({
    chainId: ORIGIN,
    currencyId: "usdc",
    symbol: "USDC",
    address: usdcOn(ORIGIN),
    decimals: 6,
    balance: "3000000",
    amountUsd: "3.000000",
  });
});

test("reservations above the balance leave zero", async () => {
  const { liquidity } = await chainLiquidity(quoteWorld({ inventory: 1n, reserved: 2n }), ORIGIN);
  expect(liquidity.find(({ address }) => address === rareOn(ORIGIN))).toMatchObject({
    balance: "0",
    amountUsd: "0.000000",
  });
});

test("unknown liquidity is an error, not zero", async () => {
  const services = quoteWorld();
  const down = {
    ...services,
    prices: { usd: () => Promise.reject(new ServiceError("PRICE_FETCH_FAILED", "down")) },
  };
  await expect(chainLiquidity(down, ORIGIN)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  const chains = {
    nonEvm: () => undefined,
    get: (id: number) => {
      const connected = services.chains.get(id);
      return connected && { ...connected, pulse: { ...connected.pulse, solverBalance: unknown } };
    },
  };
  await expect(chainLiquidity({ ...services, chains }, ORIGIN)).rejects.toMatchObject({
    code: "RPC_HTTP_ERROR",
  });
});

test("unknown chains have neither health nor liquidity", async () => {
  const { chains, clock } = quoteWorld();
  expect(() => chainHealth({ chains, clock }, 5, undefined)).toThrow("Chain 5 is not supported");
  await expect(chainLiquidity(quoteWorld(), 5)).rejects.toMatchObject({ code: "UNSUPPORTED_CHAIN" });
});
