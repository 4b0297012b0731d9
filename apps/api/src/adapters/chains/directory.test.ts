import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ConnectedChain } from "../../ports/chains.ts";
import { createChainDirectory } from "./directory.ts";

const token: Address = "0x2222222222222222222222222222222222222222";
const aConnected = (id: number, tokens: readonly Address[]) =>
  ({
    chain: {
      id,
      native: { address: NATIVE_CURRENCY, chainId: id },
      tokens: tokens.map((address) => ({ address, chainId: id })),
    },
  }) as unknown as ConnectedChain;

test("chains and currencies are found by id and address, each currency on its own chain", () => {
  const [one, two] = [aConnected(1, [token]), aConnected(2, [])];
  const directory = createChainDirectory([one, two]);
  expect(directory.all).toEqual([one, two]);
  expect(directory.get(2)).toBe(two);
  expect(directory.get(3)).toBeUndefined();
  expect(directory.currency(1, token)).toMatchObject({ address: token, chainId: 1 });
  expect(directory.currency(2, token)).toBeUndefined();
  expect(directory.currency(2, NATIVE_CURRENCY)).toMatchObject({ chainId: 2 });
  expect(directory.currency(3, NATIVE_CURRENCY)).toBeUndefined();
});
