import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import { aChain } from "../../../../test/fakes/quote-world.ts";
import { chainsToName, namedRows } from "./named-rows.ts";

const chain = aChain(72_001);
const named = namedRows([chain]);
const [token] = chain.tokens;

test("adds the name of the chain to rows, and amounts with decimals and symbol to base units", () => {
  const row = { id: 7, chain_id: 72_001, currency: token?.address, amount: 24_988_505n, owed: 0n, nonce: 3 };
  expect(named(row)).toEqual({
    ...row,
    chain: chain.name,
    amount_readable: `24.988505 ${token?.symbol}`,
    owed_readable: `0 ${token?.symbol}`,
  });
  expect(Object.keys(named(row)).slice(0, 3)).toEqual(["id", "chain_id", "chain"]);
  expect(named({ chainId: 72_001, currency: NATIVE_CURRENCY, amount: "1500000000000000000" })).toMatchObject({
    chain: chain.name,
    amount_readable: `1.5 ${chain.native.symbol}`,
  });
});

test("leaves values of unconfigured chains and currencies unchanged", () => {
  for (const row of [
    { chain_id: 5, currency: token?.address, amount: 1n },
    { chain_id: "hub", sender: "0x" },
    { at: "now", event: "x" },
  ])
    expect(named(row)).toEqual(row);
  const unknown = { chain_id: 72_001, currency: `0x${"99".repeat(20)}`, amount: 1n };
  expect(named(unknown)).toEqual({ ...unknown, chain: chain.name });
});

test("adds no names without a readable configuration", () => {
  expect(chainsToName({})).toEqual([]);
  expect(chainsToName({ ENVIRONMENT: "nowhere" })).toEqual([]);
});
