import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { aListedCurrency, fakeDiscovery } from "../../../../test/fakes/discovery.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import type { RouteConfigQuestion } from "../discovery/route-config.ts";
import type { TrendingQuestion } from "../discovery/trending-currencies.ts";

const queries: unknown[] = [];
const discovery = fakeDiscovery({
  searchCurrencies: async (input) => {
    queries.push(input);
    return [
      aListedCurrency,
      { ...aListedCurrency, id: "usdc", symbol: "USDC" },
      { ...aListedCurrency, chainId: 12 },
    ];
  },
  tokenPrice: async (chainId, address) => {
    if (chainId === 13) throw new ServiceError("PRICE_FETCH_FAILED", "No fresh price of ethereum; try again");
    if (address !== NATIVE_CURRENCY)
      throw new ServiceError("UNSUPPORTED_CURRENCY", "No price of FRN available", { field: "address" });
    return 3_000_123_456_789_012_345_678n;
  },
  trendingCurrencies: (question: TrendingQuestion) => {
    queries.push(question);
    return [aListedCurrency];
  },
  routeConfig: async (question: RouteConfigQuestion) => {
    queries.push(question);
    return await fakeDiscovery().routeConfig(question);
  },
});
const { app } = await aServer(discovery);
afterAll(() => app.close());

const get = async (url: string) => await app.inject({ method: "GET", url });
const searchCurrencies = async (payload: object, version = "v2") =>
  await app.inject({ method: "POST", url: `/currencies/${version}`, payload });

test("finds currencies without a query, and ignores unknown fields", async () => {
  const answer = await searchCurrencies({ referrer: "someone", depositAddressOnly: false, whatever: [1] });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toHaveLength(3);
  expect(queries.at(-1)).toEqual({ referrer: "someone", depositAddressOnly: false, limit: 20 });
});

test("POST /currencies/v1 returns the same currencies, grouped by asset", async () => {
  const answer = await searchCurrencies({}, "v1");
  expect(answer.statusCode).toBe(200);
  const groups: { symbol: string; chainId: number }[][] = answer.json();
  expect(groups.map((group) => group.map(({ symbol, chainId }) => `${symbol}:${chainId}`))).toEqual([
    ["ETH:11", "ETH:12"],
    ["USDC:11"],
  ]);
});

test("returns a price as a number, or as text with all its digits", async () => {
  const query = `?address=${NATIVE_CURRENCY}&chainId=11`;
  expect((await get(`/currencies/token/price${query}`)).json()).toEqual({ price: 3_000.1234567890124 });
  expect((await get(`/currencies/token/price/v2${query}`)).json()).toEqual({
    price: "3000.123456789012345678",
  });
});

test("a missing price returns 400 with the reason in `error`, and an unreachable source 503", async () => {
  for (const version of ["", "/v2"]) {
    const missing = await get(`/currencies/token/price${version}?address=0x01&chainId=11`);
    expect(missing.statusCode).toBe(400);
    expect(missing.json()).toEqual({
      error: "No price of FRN available",
      message: "No price of FRN available",
      errorCode: "UNSUPPORTED_CURRENCY",
      errorData: { field: "address" },
      statusCode: 400,
    });
    const unreachable = await get(`/currencies/token/price${version}?address=${NATIVE_CURRENCY}&chainId=13`);
    expect(unreachable.statusCode).toBe(503);
    expect(unreachable.json()).toMatchObject({ errorCode: "PRICE_FETCH_FAILED", statusCode: 503 });
    expect(unreachable.headers["retry-after"]).toBe("1");
  }
});

test("GET /currencies/trending reads chain id, order and limit from the query", async () => {
  expect((await get("/currencies/trending?chainId=11&sortBy=volume&limit=5")).statusCode).toBe(200);
  expect(queries.at(-1)).toEqual({ chainId: 11, by: "volume", limit: 5 });
  await get("/currencies/trending?sortBy=whatever");
  expect(queries.at(-1)).toEqual({ chainId: undefined, by: "requests", limit: 20 });
});

test("reports a chain's liquidity and health", async () => {
  expect((await get("/chains/liquidity?chainId=11")).json()).toMatchObject({
    liquidity: [{ chainId: 11, symbol: "ETH", balance: "1" }],
  });
  expect((await get("/chains/health?chainId=11")).json()).toMatchObject({ healthy: true, chainId: 11 });
});

test("reports a route's capacity under both paths, with deprecation headers", async () => {
  for (const url of ["/config/v2", "/config"]) {
    const answer = await get(`${url}?originChainId=11&destinationChainId=12&user=0x01&currency=eth&more=1`);
    expect(answer.statusCode).toBe(200);
    expect(queries.at(-1)).toEqual({
      originChainId: 11,
      destinationChainId: 12,
      user: "0x01",
      currency: "eth",
    });
    expect(answer.json()).toMatchObject({
      enabled: true,
      supportsExternalLiquidity: false,
      deprecation: { successor: "/quote/v2", sunsetAt: "2027-11-01T00:00:00.000Z" },
    });
    const refused = await get(url);
    for (const { headers } of [answer, refused]) {
      expect(headers["deprecation"]).toBe("@1793491200");
      expect(headers["sunset"]).toBe("Mon, 01 Nov 2027 00:00:00 GMT");
      expect(headers["link"]).toContain('</quote/v2>; rel="successor-version"');
    }
  }
});

test.each([
  [{ chainIds: 11 }, "chainIds must be an array of chain ids"],
  [{ chainIds: ["11"] }, "chainIds[0] must be an integer chain id"],
  [
    { chainIds: Array.from({ length: 201 }, (_, index) => index + 1) },
    "chainIds must have at most 200 chain ids",
  ],
  [{ term: 5 }, "term must be a string"],
  [{ term: "x".repeat(129) }, "term must have at most 128 characters"],
  [{ address: "" }, "address must not be empty"],
  [{ currencyId: 1 }, "currencyId must be a string"],
  [{ tokens: "11:0x01" }, 'tokens must be an array of "<chain id>:<address>"'],
  [{ tokens: ["0x01"] }, 'tokens[0] must be "<chain id>:<address>"'],
  [{ verified: "yes" }, "verified must be true or false"],
  [{ defaultList: 1 }, "defaultList must be true or false"],
  [{ includeAllChains: 1 }, "includeAllChains must be true or false"],
  [{ useExternalSearch: 1 }, "useExternalSearch must be true or false"],
  [{ depositAddressOnly: 1 }, "depositAddressOnly must be true or false"],
  [{ limit: 0 }, "limit must be a whole number from 1 to 100"],
  [{ limit: 101 }, "limit must be a whole number from 1 to 100"],
  [{ limit: "many" }, "limit must be a whole number from 1 to 100"],
])("names the invalid field of a currency search: %j", async (body, message) => {
  for (const version of ["v1", "v2"]) {
    const answer = await searchCurrencies(body, version);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ message, errorCode: "INVALID_REQUEST", statusCode: 400 });
  }
});

test.each([
  ["/currencies/token/price?address=0x01", "chainId is required"],
  ["/currencies/token/price/v2?chainId=11", "address is required"],
  ["/currencies/token/price?address=0x01&chainId=eth", "chainId must be a chain id"],
  ["/currencies/trending?chainId=x", "chainId must be a chain id"],
  ["/currencies/trending?limit=0", "limit must be a whole number from 1 to 100"],
  ["/chains/liquidity", "chainId is required"],
  ["/chains/liquidity?chainId=-1", "chainId must be a chain id"],
  ["/chains/health", "chainId is required"],
  ["/chains/health?chainId=1.5", "chainId must be a chain id"],
  ["/config/v2?originChainId=11", "destinationChainId is required"],
  ["/config?destinationChainId=12", "originChainId is required"],
  ["/config/v2?originChainId=a&destinationChainId=12", "originChainId must be a chain id"],
  ["/config/v2?originChainId=11&destinationChainId=12&currency=", "currency must not be empty"],
])("names the missing or invalid parameter: %s", async (url, message) => {
  const answer = await get(url);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ message, errorCode: "INVALID_REQUEST", statusCode: 400 });
});
