import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ConnectedChain, ConnectedNonEvmChain } from "./chains.port.ts";
import { createChainDirectory } from "./directory.adapter.ts";

const token: Address = "0x2222222222222222222222222222222222222222";
const connectedChain = (id: number, tokens: readonly Address[]) =>
  ({
    chain: {
      id,
      native: { address: NATIVE_CURRENCY, chainId: id },
      tokens: tokens.map((address) => ({ address, chainId: id })),
    },
  }) as unknown as ConnectedChain;

test("finds chains and currencies by id and address, each currency on its own chain", () => {
  const [first, second] = [connectedChain(1, [token]), connectedChain(2, [])];
  const directory = createChainDirectory([first, second]);
  expect(directory.evmChains).toEqual([first, second]);
  expect(directory.get(2)).toBe(second);
  expect(directory.get(3)).toBeUndefined();
  expect(directory.currency(1, token)).toMatchObject({ address: token, chainId: 1 });
  expect(directory.currency(2, token)).toBeUndefined();
  expect(directory.currency(2, NATIVE_CURRENCY)).toMatchObject({ chainId: 2 });
  expect(directory.currency(3, NATIVE_CURRENCY)).toBeUndefined();
});

test("finds non-EVM chains next to EVM chains, and refuses a duplicate id", () => {
  const evmChain = connectedChain(1, []);
  const nonEvmChain = connectedChain(7, [token]) as unknown as ConnectedNonEvmChain;
  const directory = createChainDirectory([evmChain], [nonEvmChain]);
  expect([directory.get(7), directory.nonEvm(7), directory.nonEvm(1)]).toEqual([
    undefined,
    nonEvmChain,
    undefined,
  ]);
  expect([directory.profile(1), directory.profile(7)]).toEqual([evmChain.chain, nonEvmChain.chain]);
  expect(directory.currency(7, token)).toMatchObject({ chainId: 7 });
  expect(() =>
    createChainDirectory([evmChain], [connectedChain(1, []) as unknown as ConnectedNonEvmChain]),
  ).toThrow(/more than once/);
});
