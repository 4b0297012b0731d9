import { expect, test } from "vitest";
import { aConnectedNonEvmChain } from "../../../../../test/fakes/non-evm-chains.ts";
import { swapDescription } from "./swap-before-deposit.ts";

const { chain } = aConnectedNonEvmChain("svm", {});
const [usdc] = chain.tokens;
const swap = { amountIn: 2_000_000n, amountOut: 1_000_000n };

test("the description says that a deposit of SOL unwraps all wrapped SOL of the user", () => {
  if (usdc === undefined) throw new Error("the chain has no token");
  const sol = swapDescription(chain, usdc, chain.native, swap);
  expect(sol).toMatch(/stays in your wallet; all wrapped SOL in your wallet becomes SOL$/);
  expect(swapDescription(chain, chain.native, usdc, swap)).not.toContain("wrapped");
});
