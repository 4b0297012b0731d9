import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "@causeway/domain";

/**
 * A swap aggregator that sells any token for another at a fixed rate. It refuses what real aggregators
 * refuse: a wrong key or version, other methods, malformed addresses and amounts, and a missing taker.
 */
export interface AggregatorServer {
  readonly url: string;
  /** The paths of the requests so far, in order. */
  readonly requestedPaths: string[];
  /** Answers every request while it is set. */
  respond: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Fields that replace those of each answer to `quote`. */
  change: object;
  close(): Promise<void>;
}

export const aggregatorKey = "the-key-of-the-test-aggregator";
export const settler: Address = `0x${"57".repeat(20)}`;

const address = /^0x[0-9a-fA-F]{40}$/;

/**
 * @param rate output units for one input unit
 * @param depth the input for which price impact halves the rate
 */
export async function startAggregator(
  chainId: number,
  rate: bigint,
  depth: bigint,
): Promise<AggregatorServer> {
  const requestedPaths: string[] = [];
  const sell = (path: string, query: URLSearchParams): object | undefined => {
    const amount = query.get("sellAmount") ?? "";
    const [sellToken, buyToken, taker] = ["sellToken", "buyToken", "taker"].map(
      (name) => query.get(name) ?? "",
    );
    const slippageBps = Number(query.get("slippageBps") ?? "100");
    const odd =
      ![sellToken, buyToken, taker].every((text) => address.test(text ?? "")) || sellToken === buyToken;
    if (query.get("chainId") !== String(chainId) || odd || !/^[1-9]\d*$/.test(amount)) return undefined;
    if (!(slippageBps >= 0 && slippageBps <= 10_000)) return undefined;
    const sellAmount = BigInt(amount);
    const buyAmount = (sellAmount * rate * depth) / (depth + sellAmount);
    const minBuyAmount = (buyAmount * BigInt(10_000 - slippageBps)) / 10_000n;
    const price = {
      liquidityAvailable: true,
      sellToken,
      buyToken,
      sellAmount: amount,
      buyAmount: String(buyAmount),
      minBuyAmount: String(minBuyAmount),
    };
    if (path === "price") return price;
    const transaction = {
      to: settler,
      data: "0x2213bc0b00",
      value: "0",
      gas: "280000",
      gasPrice: "1000000000",
    };
    return { ...price, allowanceTarget: settler, issues: {}, transaction, ...server.change };
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const path = /^\/swap\/allowance-holder\/(price|quote)$/.exec(pathname)?.[1];
    const json = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (path === undefined || request.method !== "GET") return json(404, { name: "NOT_FOUND" });
    if (request.headers["0x-api-key"] !== aggregatorKey) return json(401, { name: "UNAUTHORIZED" });
    if (request.headers["0x-version"] !== "v2") return json(400, { name: "INPUT_INVALID" });
    requestedPaths.push(path);
    const sold = sell(path, searchParams);
    return sold === undefined ? json(400, { name: "INPUT_INVALID" }) : json(200, sold);
  };
  const http = createServer((request, response) => {
    if (server.respond === undefined) answer(request, response);
    else server.respond(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const server: AggregatorServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/swap/allowance-holder`,
    requestedPaths,
    respond: undefined,
    change: {},
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}
