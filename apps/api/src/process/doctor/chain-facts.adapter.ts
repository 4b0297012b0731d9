import { createRpcTransport, RpcFault } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { EndpointFacts } from "./chain-check.ts";

/** Timeout of one call. The retry of a failed call counts toward the limit of the whole check. */
const DEADLINE_MS = 5_000;

/** All endpoints of a chain, in the configured order. */
export function endpointsOf({ rpcUrl, rpcUrls }: Pick<Chain, "rpcUrl" | "rpcUrls">): readonly string[] {
  return rpcUrls ?? [rpcUrl];
}

/** Reads the facts that an endpoint serves. @throws RpcFault */
export async function readEndpoint(url: string): Promise<EndpointFacts> {
  const rpc = createRpcTransport({ url, deadlineMs: DEADLINE_MS, connections: 1 });
  try {
    const [chainId, syncing, block] = await Promise.all([
      rpc.request("eth_chainId", []),
      // Some providers do not offer this method, but they never route to a node that is syncing.
      rpc.request("eth_syncing", []).catch(() => false),
      rpc.request("eth_getBlockByNumber", ["latest", false]),
    ]);
    const { number, timestamp } = (block ?? {}) as Readonly<Record<string, unknown>>;
    return {
      chainId: parseQuantity(chainId, "eth_chainId"),
      height: Number(parseQuantity(number, "eth_getBlockByNumber")),
      blockAtMs: Number(parseQuantity(timestamp, "eth_getBlockByNumber")) * 1000,
      isSyncing: syncing !== false,
    };
  } finally {
    await rpc.close();
  }
}

function parseQuantity(value: unknown, method: string): bigint {
  if (typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new RpcFault({ kind: "garbage", method, reason: "the answer is not a quantity" });
}
