import type { Address, Currency } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { CurrenciesInput } from "@causeway/wire";
import { currenciesRequest } from "@causeway/wire";
import { expect, test } from "vitest";
import { aChain, DESTINATION, ORIGIN, usdcOn, wethOn } from "../../../../test/fakes/quote-world.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import { foreignToken } from "../markets/tokens/foreign-token.adapter.ts";
import { createTokenBook } from "../markets/tokens/token-book.adapter.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { createCurrencySearch } from "./search-currencies.ts";

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
/** A token that only its chain knows, and one whose chain does not answer. */
const [UNLISTED, SILENT] = [address("c1"), address("f1")];

function foreign(chainId: number, byte: string, symbol: string, name = symbol, verified = true): Currency {
  return foreignToken({
    chainId,
    address: address(byte),
    symbol,
    name,
    decimals: 18,
    logoUri: undefined,
    verified,
  });
}

const lists = new Map([
  [
    ORIGIN,
    [
      foreign(ORIGIN, "b1", "WUSDC", "Wrapped somehow"),
      foreign(ORIGIN, "b2", "USDCE", "Bridged"),
      foreign(ORIGIN, "b3", "PEPE", "Contains usdc in its name"),
      foreign(ORIGIN, "b4", "UB", "USDC Bonds"),
      foreign(ORIGIN, "b5", "RAR", "Almost rare"),
    ],
  ],
]);

/**
 * Two chains with ETH, USDC, WETH, RARE, LOCKED; a list for the first; other tokens are known only to their
 * chain.
 */
function search(change: { readonly depositAddresses?: boolean } = {}) {
  const lookUps: string[] = [];
  const chain = (id: number) => {
    const plain = aChain(id);
    const contracts = { ...plain.contracts, depositAddressFactory: address("fa") };
    return change.depositAddresses === true && id === ORIGIN ? { ...plain, contracts } : plain;
  };
  const chains = createChainDirectory(
    [chain(ORIGIN), chain(DESTINATION)].map((profile) => ({ chain: profile }) as ConnectedChain),
  );
  const tokens = createTokenBook({
    chains,
    lists: {
      get: (chainId, token) => lists.get(chainId)?.find((entry) => entry.address === token),
      tokensOf: (chainId) => lists.get(chainId) ?? [],
    },
    unlisted: {
      token: async (chainId, token) => {
        lookUps.push(`${chainId}:${token}`);
        await Promise.resolve();
        if (token === SILENT) throw new ServiceError("RPC_HTTP_ERROR", "down");
        return token === UNLISTED && chainId === ORIGIN
          ? foreign(ORIGIN, "c1", "NEW", "New", false)
          : undefined;
      },
    },
  });
  const find = createCurrencySearch({ chains, tokens });
  return {
    lookUps: lookUps,
    find: async (input: Partial<CurrenciesInput>) => await find(currenciesRequest.parse(input)),
    /** As `SYMBOL@chain`, A and B. */
    async names(input: Partial<CurrenciesInput>) {
      const found = await find(currenciesRequest.parse(input));
      return found.map(({ symbol, chainId }) => `${symbol}@${chainId === ORIGIN ? "A" : "B"}`);
    },
  };
}

test("without a query, lists the configured currencies of all chains first, then the token lists", async () => {
  expect(await search().names({})).toEqual([
    "ETH@A",
    "ETH@B",
    "USDC@A",
    "USDC@B",
    "WETH@A",
    "WETH@B",
    "RARE@A",
    "RARE@B",
    "LOCKED@A",
    "LOCKED@B",
    "WUSDC@A",
    "USDCE@A",
    "PEPE@A",
    "UB@A",
    "RAR@A",
  ]);
});

test("returns all fields of a currency that lists need", async () => {
  const [native] = await search().find({ chainIds: [ORIGIN], limit: 1 });
  expect(native).toEqual({
    id: "eth",
    chainId: ORIGIN,
    address: NATIVE_CURRENCY,
    symbol: "ETH",
    name: "eth",
    decimals: 18,
    vmType: "evm",
    metadata: { logoURI: "", verified: true, isNative: true },
  });
});

test("a term matches exact symbols, then beginnings, names and parts, but configured currencies come first", async () => {
  expect(await search().names({ term: "usdc" })).toEqual([
    "USDC@A",
    "USDC@B",
    // Beginning of the symbol, beginning of the name, part of the symbol, part of the name.
    "USDCE@A",
    "UB@A",
    "WUSDC@A",
    "PEPE@A",
  ]);
  expect(await search().names({ term: "rar" })).toEqual(["RARE@A", "RARE@B", "RAR@A"]);
  expect(await search().names({ term: "  UsDcE " })).toEqual(["USDCE@A"]);
  expect(await search().names({ term: "eth" })).toEqual(["ETH@A", "ETH@B", "WETH@A", "WETH@B"]);
});

test("finds a token by its address, in any case and also as a term", async () => {
  const { names } = search();
  expect(await names({ address: usdcOn(ORIGIN).toUpperCase().replace("0X", "0x") })).toEqual(["USDC@A"]);
  expect(await names({ term: address("b2").toUpperCase() })).toEqual(["USDCE@A"]);
  expect(await names({ term: address("b2").slice(0, 10) })).toEqual(["USDCE@A"]);
  expect(await names({ address: NATIVE_CURRENCY })).toEqual(["ETH@A", "ETH@B"]);
  expect(await names({ address: UNLISTED })).toEqual([]);
});

test("filters by chains, asset, list and limit", async () => {
  const { names } = search();
  expect(await names({ chainIds: [DESTINATION, 999_999] })).toHaveLength(5);
  expect(await names({ chainIds: [999_999] })).toEqual([]);
  expect(await names({ currencyId: "USDC" })).toEqual(["USDC@A", "USDC@B"]);
  expect(await names({ defaultList: true, term: "usdc" })).toEqual(["USDC@A", "USDC@B"]);
  expect(await names({ limit: 3 })).toEqual(["ETH@A", "ETH@B", "USDC@A"]);
  expect(await names({ term: "usdc", limit: "1" })).toEqual(["USDC@A"]);
});

test("finds explicitly listed tokens and skips those of unknown chains", async () => {
  const { names, find } = search();
  const tokens = [`${ORIGIN}:${wethOn(ORIGIN)}`, `${ORIGIN}:${address("b3")}`, "792703809:So1anaAddress"];
  expect(await names({ tokens })).toEqual(["WETH@A", "PEPE@A"]);
  await expect(find({ tokens: [`${ORIGIN}:nonsense`] })).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "tokens" },
  });
});

test("includes the same asset on all chains on request", async () => {
  const { names } = search();
  const question = { chainIds: [ORIGIN], address: usdcOn(ORIGIN) };
  expect(await names(question)).toEqual(["USDC@A"]);
  expect(await names({ ...question, includeAllChains: true })).toEqual(["USDC@A", "USDC@B"]);
});

test("looks up an unlisted token on its chains only on request", async () => {
  const { names, find, lookUps: asked } = search();
  expect(await names({ term: UNLISTED })).toEqual([]);
  expect(asked).toEqual([]);
  expect(await names({ term: UNLISTED, useExternalSearch: true })).toEqual(["NEW@A"]);
  expect(asked).toEqual([`${ORIGIN}:${UNLISTED}`, `${DESTINATION}:${UNLISTED}`]);
  const [token] = await find({ address: UNLISTED, chainIds: [ORIGIN], useExternalSearch: true });
  expect(token?.metadata.verified).toBe(false);
  expect(await names({ tokens: [`${ORIGIN}:${UNLISTED}`], useExternalSearch: true })).toEqual(["NEW@A"]);
});

test("a query for verified tokens causes no call to a chain", async () => {
  const { names, lookUps: asked } = search();
  for (const filter of [{ verified: true }, { defaultList: true }, { currencyId: "usdc" }])
    expect(await names({ address: UNLISTED, useExternalSearch: true, ...filter })).toEqual([]);
  expect(asked).toEqual([]);
});

test("does not report a missing token when its chain did not answer", async () => {
  const { find, names } = search();
  await expect(find({ address: SILENT, useExternalSearch: true })).rejects.toMatchObject({
    code: "RPC_HTTP_ERROR",
  });
  // Known tokens are returned anyway.
  const tokens = [`${ORIGIN}:${SILENT}`, `${ORIGIN}:${UNLISTED}`];
  expect(await names({ tokens, useExternalSearch: true })).toEqual(["NEW@A"]);
});

test("currencies of the solver support deposit addresses, if the instance has them", async () => {
  expect(await search().names({ depositAddressOnly: true })).toEqual([]);
  expect(await search({ depositAddresses: true }).names({ depositAddressOnly: true })).toEqual([
    "ETH@A",
    "USDC@A",
    "WETH@A",
    "RARE@A",
  ]);
});

test("refuses an invalid address", async () => {
  await expect(search().find({ address: "0x12" })).rejects.toMatchObject({
    code: "INVALID_ADDRESS",
    facts: { field: "address" },
  });
});
