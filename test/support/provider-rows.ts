import { keccak256, type Hex } from "viem";
import { replyOfLaggingBackend, resultOf } from "./lagging-backend.ts";
import type {
  AskNode,
  HttpReply,
  ProviderBehavior,
  ProviderCall,
  ProviderRequest,
  Reply,
} from "./provider-proxy.ts";

/** A documented or observed provider misbehavior. */
export interface ProviderRow {
  readonly name: string;
  /** Creates the behavior anew for each provider. */
  readonly behavior: () => ProviderBehavior;
  /** Whether `npm test` runs this row too. */
  readonly isInCheck?: boolean;
  /**
   * How long a bridge takes that starts with this provider: at most three times the usual time (`prompt`), or
   * longer (`late`). Absent if another row of the same kind is measured.
   */
  readonly bridge?: "prompt" | "late";
  /** The maximum rate of calls as a multiple of the rate with an honest provider. Default: 2. */
  readonly maxFactor?: number;
  /**
   * When the services restart: with this provider and then with the honest one, or only with the honest one.
   */
  readonly restarts?: "before and after" | "after";
  /** How the flow with a swap ends. Default: `success`. */
  readonly swapEnds?: "unquoted" | "refund";
  /** After how many ms the provider becomes honest again. Default: never. */
  readonly lastsMs?: number;
  /** The time limit in ms for a flow's quote, and again for its completion. Default: 60 s. */
  readonly withinMs?: number;
}

const errorReply = (code: number, message: string, data?: unknown): Reply => ({
  error: { code, message, ...(data !== undefined && { data }) },
});
const asBody = (reply: Reply): unknown => ({ jsonrpc: "2.0", id: null, ...reply });

/** Whether a request is among `percent` of a hundred requests, spread evenly and deterministically. */
const isInShare = (percent: number, { number }: ProviderRequest): boolean => (number * 37) % 100 < percent;

const answeringShare = (percent: number, reply: HttpReply): ProviderBehavior => ({
  answer: (request) => (isInShare(percent, request) ? reply : undefined),
});

/** Serves this many requests per second and refuses all others. */
function rateLimited(perSecond: number, reply: HttpReply): ProviderBehavior {
  const served = new Map<number, number>();
  return {
    answer: ({ sinceMs }) => {
      const second = Math.floor(sinceMs / 1_000);
      const before = served.get(second) ?? 0;
      served.set(second, before + 1);
      return before < perSecond ? undefined : reply;
    },
  };
}

const unavailable: HttpReply = {
  status: 503,
  body: "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>",
  headers: { "content-type": "text/html" },
};
const tooManyRequests = (body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply => ({
  status: 429,
  body,
  headers,
});
const alchemy429 =
  "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.";

const infuraLimit = errorReply(-32_005, "daily request count exceeded, request rate limited", {
  rate: { backoff_seconds: 1 },
});

/**
 * A provider that is unavailable for three seconds, so that the service must catch up with several blocks,
 * and then limits log ranges.
 */
function limitedLogs(maxBlocks: number, refusal: Reply): ProviderBehavior {
  return {
    answer: ({ sinceMs }) => (sinceMs < 3_000 ? unavailable : undefined),
    reply: ({ method, params }) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
      if (method !== "eth_getLogs" || fromBlock === undefined || toBlock === undefined) return undefined;
      return Number(toBlock) - Number(fromBlock) + 1 > maxBlocks ? refusal : undefined;
    },
  };
}

const logWordings: readonly (readonly [provider: string, maxBlocks: number, refusal: Reply])[] = [
  [
    "Alchemy",
    2,
    errorReply(
      -32_600,
      "Under the Free tier plan, you can make eth_getLogs requests with up to a 2 block range. Based on your parameters, this block range should work: [0x1, 0x2]. Upgrade to PAYG for expanded block range.",
    ),
  ],
  ["QuickNode", 2, errorReply(-32_614, "eth_getLogs is limited to a 2 range")],
  ["Infura", 2, errorReply(-32_005, "query returned more than 10000 results", { from: "0x1", to: "0x2" })],
  ["dRPC", 2, errorReply(35, "ranges over 2 blocks are not supported on freetier")],
  ["BlockPI", 2, errorReply(-32_602, "eth_getLogs is limited to 2 block range")],
  ["Coinbase", 2, errorReply(-32_602, "please limit the query to at most 2 blocks")],
  ["Tenderly", 2, errorReply(-32_602, "invalid params", { payload: "block range exceeds the maximum of 2" })],
  ["an unknown provider", 1, errorReply(-32_099, "please try something else")],
];

function limitedBatches(max: number, refusal: HttpReply | "each"): ProviderBehavior {
  if (refusal === "each")
    return {
      reply: (_, __, { calls }) =>
        calls.length > max ? errorReply(-32_005, "batch limit exceeded") : undefined,
    };
  return { answer: ({ calls }) => (calls.length > max ? refusal : undefined) };
}

/** A provider that forwards transactions, but gives another answer. */
function broadcasting(answer: (bytes: Hex, broadcastIndex: number) => Reply): ProviderBehavior {
  let at = 0;
  return {
    reply: async ({ method, params }, node) => {
      if (method !== "eth_sendRawTransaction") return undefined;
      await node(method, params);
      return answer(params[0] as Hex, at++);
    },
  };
}

/** The errors of geth, erigon, Nethermind, Besu, reth, OpenEthereum and EthereumJS. */
const broadcastWordings: readonly string[] = [
  "already known",
  "transaction already imported",
  "AlreadyKnown, transaction is already in the pool",
  "Known transaction",
  "transaction underpriced",
  "replacement transaction underpriced",
  "nonce too low: next nonce 9, tx nonce 8",
  "Transaction nonce is below sender account nonce",
  "OldNonce",
  "txpool is full",
  "internal error",
];

function swallowingBroadcasts(): ProviderBehavior {
  let at = 0;
  return {
    reply: ({ method, params }) => {
      if (method !== "eth_sendRawTransaction" || at++ % 5 > 2) return undefined;
      return { result: keccak256(params[0] as Hex) };
    },
  };
}

const withoutMethods = (methods: readonly string[]): ProviderBehavior => ({
  reply: ({ method }) =>
    methods.includes(method)
      ? errorReply(-32_601, `the method ${method} does not exist/is not available`)
      : undefined,
});

const changedLogs = (
  change: (logs: readonly unknown[], node: AskNode, call: ProviderCall) => Promise<readonly unknown[]>,
): ProviderBehavior => ({
  reply: async (call, node) => {
    if (call.method !== "eth_getLogs") return undefined;
    const reply = await node(call.method, call.params);
    const logs = resultOf(reply);
    return Array.isArray(logs) ? { result: await change(logs, node, call) } : reply;
  },
});

/** The logs that match the filter without its contracts and topics, as from a node that ignores them. */
async function allLogs(node: AskNode, { params }: ProviderCall): Promise<readonly unknown[]> {
  const { address: _, topics: __, ...range } = params[0] as Record<string, unknown>;
  const logs = resultOf(await node("eth_getLogs", [range]));
  return Array.isArray(logs) ? logs : [];
}

function lateReceipts(blocks: number): ProviderBehavior {
  return {
    reply: async ({ method, params }, node) => {
      if (method !== "eth_getTransactionReceipt") return undefined;
      const reply = await node(method, params);
      const receipt = resultOf(reply) as { readonly blockNumber: string } | null;
      const head = Number(resultOf(await node("eth_blockNumber", [])));
      return receipt !== null && head - Number(receipt.blockNumber) < blocks ? { result: null } : undefined;
    },
  };
}

/** All rows. The honest one is first, because all others are compared with it. */
export const providerRows: readonly ProviderRow[] = [
  { name: "honest", behavior: () => ({}), isInCheck: true },
  {
    name: "no eth_subscribe",
    behavior: () => ({ socket: { refusesSubscriptions: true } }),
    maxFactor: 3,
  },
  { name: "no WebSocket", behavior: () => ({ socket: { isRefused: true } }), maxFactor: 3 },
  {
    name: "a WebSocket that drops every second",
    bridge: "prompt",
    behavior: () => ({ socket: { dropsAfterMs: 1_000 } }),
    maxFactor: 3,
  },
  {
    name: "a WebSocket that stays open and silent",
    behavior: () => ({ socket: { isSilent: true } }),
    isInCheck: true,
    maxFactor: 3,
  },
  {
    name: "429 with Retry-After beyond fifteen requests per second",
    bridge: "late",
    behavior: () =>
      rateLimited(15, tooManyRequests(asBody(errorReply(429, alchemy429)), { "retry-after": "1" })),
    isInCheck: true,
  },
  {
    name: "429 as plain text without Retry-After beyond fifteen requests per second",
    behavior: () => rateLimited(15, tooManyRequests("Too Many Requests", { "content-type": "text/plain" })),
  },
  {
    name: "a rate limit with status 200 beyond fifteen requests per second",
    behavior: () => rateLimited(15, { status: 200, body: asBody(infuraLimit) }),
  },
  {
    // Without any traffic, two processes that follow a chain with two blocks per second make 13 requests per
    // second. With a limit of eight per second the last flows took over three minutes, so flows may end
    // after the limit was lifted.
    name: "429 beyond three requests per second, for a minute",
    behavior: () => rateLimited(3, tooManyRequests(asBody(errorReply(429, alchemy429)))),
    lastsMs: 60_000,
    withinMs: 180_000,
  },
  {
    name: "429 for half of the requests, for fifteen seconds",
    behavior: () => answeringShare(50, tooManyRequests(asBody(errorReply(429, alchemy429)))),
    lastsMs: 15_000,
  },
  {
    name: "503 as HTML for a twentieth of the requests",
    bridge: "prompt",
    behavior: () => answeringShare(5, unavailable),
  },
  {
    name: "502 with a JSON-RPC error for a fifth of the requests",
    behavior: () =>
      answeringShare(20, {
        status: 502,
        body: asBody(errorReply(-32_603, "no backends available for method")),
      }),
  },
  {
    name: "an outage of ten seconds",
    bridge: "late",
    behavior: () => ({ answer: ({ sinceMs }) => (sinceMs < 10_000 ? unavailable : undefined) }),
  },
  {
    name: "answers that take two seconds",
    bridge: "late",
    behavior: () => ({ delayMs: 2_000 }),
    // Reading the pools takes longer than their maximum age.
    swapEnds: "unquoted",
    withinMs: 120_000,
  },
  {
    name: "answers that end within the JSON, or with the connection",
    bridge: "prompt",
    behavior: () => ({
      cut: (request) =>
        isInShare(10, request) ? (request.number % 20 < 10 ? "json" : "connection") : undefined,
    }),
  },
  ...logWordings.map(([provider, maxBlocks, refusal]) => ({
    name: `ranges of logs limited in the words of ${provider}`,
    behavior: () => limitedLogs(maxBlocks, refusal),
    ...(provider === "Alchemy" && { isInCheck: true, bridge: "late" as const }),
  })),
  {
    name: "logs by block hash refused",
    behavior: () => ({
      reply: ({ method, params }) =>
        method === "eth_getLogs" && (params[0] as { blockHash?: string }).blockHash !== undefined
          ? errorReply(-32_602, "invalid argument 0: filter by blockHash is not supported")
          : undefined,
    }),
  },
  {
    name: "each log twice",
    behavior: () => changedLogs(async (logs) => await Promise.resolve([...logs, ...logs])),
  },
  {
    name: "logs that the filter excludes",
    behavior: () => changedLogs(async (_, node, call) => await allLogs(node, call)),
  },
  {
    name: "half of the answers from backends one to three blocks behind",
    bridge: "late",
    behavior: () => ({
      reply: async (call, node, { number }) =>
        number % 2 === 0 ? undefined : await replyOfLaggingBackend(call, node, 1 + (number % 3)),
    }),
    maxFactor: 3,
    withinMs: 180_000,
  },
  {
    name: "blocks announced two blocks before they can be read",
    behavior: () => ({ reply: async (call, node) => await replyOfLaggingBackend(call, node, 2) }),
    maxFactor: 3,
  },
  { name: "receipts that are null for three blocks", bridge: "prompt", behavior: () => lateReceipts(3) },
  {
    name: "no finalized and safe blocks",
    bridge: "prompt",
    behavior: () => ({
      reply: ({ method, params }) =>
        method === "eth_getBlockByNumber" && (params[0] === "finalized" || params[0] === "safe")
          ? errorReply(-39_001, "Unknown block")
          : undefined,
    }),
  },
  {
    name: "broadcasts that are accepted and refused in many words",
    bridge: "prompt",
    behavior: () =>
      broadcasting((_, at) => errorReply(-32_000, broadcastWordings[at % broadcastWordings.length] ?? "")),
  },
  { name: "broadcasts that are swallowed, three of five", behavior: swallowingBroadcasts, withinMs: 120_000 },
  {
    name: "no debug_traceCall",
    behavior: () => withoutMethods(["debug_traceCall", "debug_traceTransaction"]),
  },
  {
    name: "neither debug_traceCall nor eth_simulateV1",
    behavior: () => withoutMethods(["debug_traceCall", "debug_traceTransaction", "eth_simulateV1"]),
    // A service detects a node's capabilities when it starts.
    restarts: "before and after",
    swapEnds: "unquoted",
  },
  {
    name: "traces and simulations lost while the services run",
    behavior: () => withoutMethods(["debug_traceCall", "debug_traceTransaction", "eth_simulateV1"]),
    // The service quotes, because it has not yet detected that these methods are missing.
    swapEnds: "refund",
    // It also takes up to a minute to detect that they work again.
    restarts: "after",
    withinMs: 120_000,
  },
  { name: "no eth_feeHistory", behavior: () => withoutMethods(["eth_feeHistory"]) },
  // After an endpoint refuses batches, it gets small ones for a minute, so these rows are last.
  {
    name: "batches refused with status 200",
    bridge: "prompt",
    behavior: () =>
      limitedBatches(1, {
        status: 200,
        body: asBody(errorReply(-32_600, "Batch requests are not supported")),
      }),
    isInCheck: true,
    maxFactor: 6,
  },
  {
    name: "batches refused with status 400 and plain text",
    behavior: () =>
      limitedBatches(1, {
        status: 400,
        body: "invalid json format",
        headers: { "content-type": "text/plain" },
      }),
    maxFactor: 6,
  },
  {
    name: "batches of more than three refused with status 500",
    behavior: () =>
      limitedBatches(3, {
        status: 500,
        body: asBody(errorReply(31, "Batch of more than 3 requests are not allowed on free tier")),
      }),
    maxFactor: 4,
  },
  {
    name: "batches of more than ten refused call by call",
    bridge: "prompt",
    behavior: () => limitedBatches(10, "each"),
    maxFactor: 4,
  },
];
