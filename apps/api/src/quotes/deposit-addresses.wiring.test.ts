import { expect, test } from "vitest";
import { DESTINATION, ORIGIN, quoteWorld, solver } from "../../../../test/fakes/quote-world.ts";
import { aConnectedNonEvmChain } from "../../../../test/fakes/non-evm-chains.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import { startDepositAddresses } from "./deposit-addresses.wiring.ts";

test("knows the reserved amounts on every chain to which funds at an address may be quoted", async () => {
  const plain = quoteWorld();
  const solana = aConnectedNonEvmChain("svm");
  const asked = new Set<number>();
  const closing: (() => void)[] = [];
  const services = {
    ...plain,
    chains: createChainDirectory(plain.chains.all, [solana]),
    signer: { address: solver },
    depositAddressOperator: { address: solver },
    reads: {
      reservedOn: async (chainId: number) => {
        asked.add(chainId);
        return new Map();
      },
      routeTimings: async () => [],
      pauses: async () => [],
    },
    lifecycle: { add: (_: string, close: () => void) => closing.push(close) },
  };
  await startDepositAddresses(services as unknown as Parameters<typeof startDepositAddresses>[0]);
  for (const close of closing) close();
  expect(asked).toEqual(new Set([ORIGIN, DESTINATION, solana.chain.id]));
});
