import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Faults of a single HTTP request to a node: the node is broken, lags or is on another branch, or a proxy
 * fails.
 */
export const rpcTroubles = [
  /** The newest block is some blocks old. */
  "staleHead",
  /** Blocks have a wrong hash. */
  "wrongBlockHash",
  /** Receipts name a block that is not canonical. */
  "orphanReceipt",
  /** Receipts belong to another transaction. */
  "otherReceipt",
  "nullReceipt",
  "nullBlock",
  "nullTransaction",
  "nullState",
  /** State reads return nothing, as for an account without code. */
  "emptyState",
  /** Logs lack their data. */
  "brokenLogs",
  /** The answers of a batch have swapped ids. */
  "swappedIds",
  /** A node on another branch answers. Needs the option `branch`. */
  "otherBranch",
  "wrongChainId",
  "rpcError",
  "html",
  /** The answer arrives after the caller timed out. */
  "late",
  /** The answer has more bytes than any reader accepts. */
  "hugeBody",
  /** The connection closes in the middle of the answer. */
  "cutOff",
] as const;

export type RpcTrouble = (typeof rpcTroubles)[number];

export interface FaultyRpcOptions {
  /** The URL of the honest node. */
  readonly upstream: string;
  /** The URL of a node on another branch of the same chain. */
  readonly branch?: string;
  /** The delay of a late answer in ms. Default: 1,000. */
  readonly lateMs?: number;
  /** The number of bytes of a huge answer. Default: 1 MiB. */
  readonly hugeBytes?: number;
  /** The transaction whose receipt is returned for all others. */
  readonly otherTransaction?: string;
}

export interface FaultyRpc {
  readonly url: string;
  /** The number of HTTP requests so far. */
  readonly requests: () => number;
  /**
   * From now on, `choose` decides the fault of each request by its number since this call, and by its
   * methods.
   */
  trouble(choose: (request: number, methods: readonly string[]) => RpcTrouble | undefined): void;
  stop(): Promise<void>;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

type Fields = Record<string, unknown>;

/**
 * A real server on a real socket in front of a node. It has no faults until `trouble` is called. One node
 * answers a whole request, which may be a batch.
 */
export async function startFaultyRpc(options: FaultyRpcOptions): Promise<FaultyRpc> {
  let requests = 0;
  let since = 0;
  let choose: (request: number, methods: readonly string[]) => RpcTrouble | undefined = () => undefined;

  const answer = async (body: string, response: ServerResponse): Promise<void> => {
    const document = JSON.parse(body) as Call | Call[];
    const calls = Array.isArray(document) ? document : [document];
    const trouble = choose(
      requests - since,
      calls.map(({ method }) => method),
    );
    requests += 1;
    if (trouble === "html") {
      response.writeHead(502, { "content-type": "text/html" }).end("<html><body>Bad gateway</body></html>");
      return;
    }
    if (trouble === "late") await sleep(options.lateMs ?? 1_000, undefined, { ref: false });
    const answers = await Promise.all(calls.map(async (call) => await answerCall(call, trouble, options)));
    const replies = trouble === "swappedIds" ? swapIds(answers) : answers;
    const text = JSON.stringify(Array.isArray(document) ? replies : replies[0]);
    response.writeHead(200, { "content-type": "application/json" });
    if (trouble === "hugeBody") response.write(" ".repeat(options.hugeBytes ?? 1024 * 1024));
    if (trouble !== "cutOff") response.end(text);
    else response.write(text.slice(0, text.length / 2), () => response.destroy());
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      answer(Buffer.concat(chunks).toString(), response).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    trouble: (next) => {
      since = requests;
      choose = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const wrongHash = `0x${"ab".repeat(32)}`;

async function answerCall(
  call: Call,
  trouble: RpcTrouble | undefined,
  options: FaultyRpcOptions,
): Promise<Answer> {
  const { upstream, branch } = options;
  if (trouble === "rpcError")
    return { ...envelopeOf(call), error: { code: -32_000, message: "internal error" } };
  if (trouble === "otherBranch" && branch === undefined)
    throw new Error("no node of another branch was given");
  const node = trouble === "otherBranch" && branch !== undefined ? branch : upstream;
  const question = await changeQuestion(call, trouble, options);
  const answer = await ask(node, question);
  if (answer.error !== undefined) return { ...envelopeOf(call), error: answer.error };
  return { ...envelopeOf(call), result: applyTrouble(call.method, answer.result ?? null, trouble) };
}

/** The request as a lagging or faulty node would understand it. */
async function changeQuestion(
  call: Call,
  trouble: RpcTrouble | undefined,
  { upstream, otherTransaction }: FaultyRpcOptions,
): Promise<Call> {
  const [first, ...otherParams] = call.params;
  if (trouble === "otherReceipt" && call.method === "eth_getTransactionReceipt")
    return { ...call, params: [otherTransaction ?? first] };
  if (trouble === "staleHead" && call.method === "eth_getBlockByNumber" && !String(first).startsWith("0x")) {
    const head = (await ask(upstream, call)).result as Fields | null;
    const number = Number(head?.["number"] ?? 0);
    return { ...call, params: [`0x${Math.max(0, number - 2).toString(16)}`, ...otherParams] };
  }
  return call;
}

function applyTrouble(method: string, result: unknown, trouble: RpcTrouble | undefined): unknown {
  const change = trouble === undefined ? undefined : changes[trouble];
  return change?.methods.has(method) === true ? change.apply(result) : result;
}

interface Change {
  readonly methods: ReadonlySet<string>;
  apply(result: unknown): unknown;
}

/** Changes the fields of an answer. A null answer stays null. */
const changeObject =
  (change: (fields: Fields) => Fields) =>
  (result: unknown): unknown =>
    result === null ? null : change(result as Fields);
const toNull = (): unknown => null;

const blocks: ReadonlySet<string> = new Set(["eth_getBlockByNumber", "eth_getBlockByHash"]);
const receipts: ReadonlySet<string> = new Set(["eth_getTransactionReceipt"]);
const transactions: ReadonlySet<string> = new Set(["eth_getTransactionByHash"]);
const stateReads: ReadonlySet<string> = new Set(["eth_call"]);

/** The faults that change the answers to certain methods. */
const changes: Partial<Record<RpcTrouble, Change>> = {
  wrongBlockHash: { methods: blocks, apply: changeObject((block) => ({ ...block, hash: wrongHash })) },
  orphanReceipt: {
    methods: receipts,
    apply: changeObject((receipt) => withLogs({ ...receipt, blockHash: wrongHash }, withWrongBlock)),
  },
  brokenLogs: { methods: receipts, apply: changeObject((receipt) => withLogs(receipt, withoutData)) },
  nullReceipt: { methods: receipts, apply: toNull },
  nullBlock: { methods: blocks, apply: toNull },
  nullTransaction: { methods: transactions, apply: toNull },
  nullState: { methods: stateReads, apply: toNull },
  emptyState: { methods: stateReads, apply: () => "0x" },
  wrongChainId: { methods: new Set(["eth_chainId"]), apply: () => "0x1" },
};

function withLogs(receipt: Fields, change: (log: Fields) => Fields): Fields {
  return { ...receipt, logs: (receipt["logs"] as Fields[]).map(change) };
}

const withWrongBlock = (log: Fields): Fields => ({ ...log, blockHash: wrongHash });
const withoutData = (log: Fields): Fields => ({ ...log, data: null });

function envelopeOf({ id }: Call): Pick<Answer, "jsonrpc" | "id"> {
  return { jsonrpc: "2.0", id };
}

function swapIds(answers: readonly Answer[]): Answer[] {
  const ids = answers.map(({ id }) => id).toReversed();
  return answers.map((answer, at) => ({ ...answer, id: ids[at] }));
}

async function ask(url: string, call: Call): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", ...call }),
  });
  return (await response.json()) as Answer;
}
