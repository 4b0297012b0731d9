import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createCoingeckoCompatiblePrices } from "./coingecko-compatible.adapter.ts";
import { createDefillamaCompatiblePrices } from "./defillama-compatible.adapter.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A local price service that records its requests. */
async function aService(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { url: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { requests: requests, endpoint: { baseUrl: `http://127.0.0.1:${port}/v3/`, timeoutMs: 1_000 } };
}

const aServiceAnswering = (body: string, status = 200) =>
  aService((_request, response) => response.writeHead(status).end(body));
const never = new AbortController().signal;

test("asks a CoinGecko-compatible service once for all ids and keeps all digits", async () => {
  const { requests: asked, endpoint } = await aServiceAnswering(
    `{"ethereum":{"usd":2345.678901234567890123,"last_updated_at":1700000000},"shib":{"usd":1.2345e-5,"last_updated_at":1700000001}}`,
  );
  const keyHeader = { name: "x-cg-pro-api-key", value: "sesame" };
  const prices = await createCoingeckoCompatiblePrices({ ...endpoint, keyHeader }).fetch(
    ["ethereum", "shib", "none"],
    never,
  );
  expect(prices).toEqual(
    new Map([
      ["ethereum", { usd: 2_345_678_901_234_567_890_123n, asOfMs: 1_700_000_000_000 }],
      ["shib", { usd: 12_345_000_000_000n, asOfMs: 1_700_000_001_000 }],
    ]),
  );
  expect(asked).toHaveLength(1);
  const url = new URL(asked[0]!.url, "http://x");
  expect(url.pathname).toBe("/v3/simple/price");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    ids: "ethereum,shib,none",
    vs_currencies: "usd",
    include_last_updated_at: "true",
  });
  expect(asked[0]!.headers["x-cg-pro-api-key"]).toBe("sesame");
});

test("asks a DefiLlama-compatible service by CoinGecko ids and ignores prices of low confidence", async () => {
  const { requests: asked, endpoint } = await aServiceAnswering(
    `{"coins":{"coingecko:ethereum":{"price":0.1,"symbol":"ETH","timestamp":1700000000,"confidence":0.99},` +
      `"coingecko:rare":{"price":5,"timestamp":1700000000,"confidence":0.5},"coingecko:usd-coin":{"price":1,"timestamp":1700000000}}}`,
  );
  const prices = await createDefillamaCompatiblePrices(endpoint).fetch(
    ["ethereum", "rare", "usd-coin"],
    never,
  );
  expect([...prices.keys()]).toEqual(["ethereum", "usd-coin"]);
  expect(prices.get("ethereum")).toEqual({ usd: 10n ** 17n, asOfMs: 1_700_000_000_000 });
  expect(asked.map(({ url }) => url)).toEqual([
    "/v3/prices/current/coingecko:ethereum,coingecko:rare,coingecko:usd-coin",
  ]);
});

test("splits ids that do not fit into one URL into several requests", async () => {
  const { requests: asked, endpoint } = await aServiceAnswering("{}");
  await createCoingeckoCompatiblePrices(endpoint).fetch(
    Array.from({ length: 150 }, (_, i) => `id-${i}`),
    never,
  );
  expect(asked).toHaveLength(2);
});

test.each([
  ["zero", `{"a":{"usd":0,"last_updated_at":1700000000}}`],
  ["negative", `{"a":{"usd":-1,"last_updated_at":1700000000}}`],
  ["a text", `{"a":{"usd":"abc","last_updated_at":1700000000}}`],
  ["null", `{"a":{"usd":null,"last_updated_at":1700000000}}`],
  ["without a time", `{"a":{"usd":1}}`],
  ["absent", `{"a":{}}`],
  ["not an object", `[1,2]`],
])("ignores a price that is %s", async (_case, body) => {
  const { endpoint } = await aServiceAnswering(body);
  expect(await createCoingeckoCompatiblePrices(endpoint).fetch(["a"], never)).toEqual(new Map());
});

test.each<[string, () => ReturnType<typeof aService>]>([
  ["answers an error", () => aServiceAnswering("{}", 500)],
  ["answers invalid JSON", () => aServiceAnswering("<html>")],
  [
    "redirects elsewhere",
    () => aService((_q, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end()),
  ],
  ["sends too many bytes", () => aServiceAnswering(`{"a":"${"x".repeat(1_100_000)}"}`)],
  ["hangs up", () => aService((_q, response) => response.destroy())],
])("a service that %s gives PRICE_FETCH_FAILED", async (_case, start) => {
  const { endpoint } = await start();
  await expect(createCoingeckoCompatiblePrices(endpoint).fetch(["a"], never)).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
  });
});

test("a silent service times out, and a fetch ends at once when the caller aborts", async () => {
  const { endpoint } = await aService(() => undefined);
  const source = createCoingeckoCompatiblePrices({ ...endpoint, timeoutMs: 50 });
  await expect(source.fetch(["a"], never)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  const stopped = createCoingeckoCompatiblePrices({ ...endpoint, timeoutMs: 60_000 });
  await expect(stopped.fetch(["a"], AbortSignal.abort())).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
  });
});
