import { expect, test } from "vitest";
import { noChains } from "../../../../test/fakes/no-chains.ts";
import { noPools } from "../../../../test/fakes/pair-liquidity.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { LiquiditySource } from "../markets/liquidity/liquidity.port.ts";
import { swapSources } from "./swap-sources.ts";

const connected = { chain: { id: 11 } } as ConnectedChain;
const chains = {
  ...noChains,
  evmChains: [connected],
  get: (id: number) => (id === 11 ? connected : undefined),
};
const liquidity: LiquiditySource = {
  sources: () => ["uniswap-v3"],
  exactIn: () => undefined,
  exactOut: () => undefined,
};

test("an instance without swaps has no sources, and an unknown chain is refused", () => {
  expect(swapSources({ chains, liquidity }, 11)).toEqual({ sources: ["uniswap-v3"] });
  expect(swapSources({ chains, ...noPools }, 11)).toEqual({ sources: [] });
  expect(() => swapSources({ chains, liquidity }, 12)).toThrow("Chain 12 is not supported");
});
