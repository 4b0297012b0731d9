import { createHeadSource, createRpcTransport } from "@causeway/chains";
import { createLocalClient, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { afterAll, beforeAll } from "vitest";
import { createPriceBook } from "../../../apps/api/src/markets/prices/price-book.adapter.ts";
import { headSourceContract } from "../../contracts/head-source.ts";
import { priceBookContract } from "../../contracts/price-book.ts";
import { adjustablePrices } from "../../fakes/adjustable-prices.ts";
import { steppedHeads } from "../../fakes/stepped-heads.ts";

// Tests each fake and the implementation that it replaces against the same contract.

let node: RunningAnvil;
beforeAll(async () => {
  node = await startAnvil({ chainId: 72_100_999 });
});
afterAll(async () => await node.stop());

priceBookContract("prices that a test sets", async () => adjustablePrices({ ethereum: "2500" }));
priceBookContract("prices in memory", async () => {
  const book = createPriceBook({
    source: {
      name: "one price",
      fetch: async () => new Map([["ethereum", { usd: 2_500n * 10n ** 18n, asOfMs: Date.now() }]]),
    },
    clock: { nowMs: () => Date.now() },
    priceIds: ["ethereum"],
    refreshMs: 60_000,
    maxAgeMs: 60_000,
    retryMs: 60_000,
    onFault: () => undefined,
  });
  await book.refresh();
  return book;
});

headSourceContract("heads that the test emits", async () => {
  const source = steppedHeads();
  let number = 0n;
  return {
    source,
    grow: async () => {
      number++;
      const hash = `0x${number.toString(16).padStart(64, "0")}` as const;
      source.announce({ number, hash, parentHash: hash, timestamp: number, baseFeePerGas: 1n }, Date.now());
    },
  };
});
headSourceContract("heads of a node", async () => {
  const transport = createRpcTransport({ url: node.url });
  const source = createHeadSource({
    transport,
    chainId: node.chainId,
    blockTimeSeconds: 1,
    wsUrl: node.wsUrl,
    now: Date.now,
  });
  const client = createLocalClient(node);
  return {
    source: {
      ...source,
      get latest() {
        return source.latest;
      },
      close: async () => {
        await source.close();
        await transport.close();
      },
    },
    grow: async () => await client.mine({ blocks: 1 }),
  };
});
