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

export type InjectedFault = (typeof rpcTroubles)[number];

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
  trouble(choose: (request: number, methods: readonly string[]) => InjectedFault | undefined): void;
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
  let choose: (request: number, methods: readonly string[]) => InjectedFault | undefined = () => undefined;

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
    const replies = trouble === "swappedIds" ? swapped(answers) : answers;
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
  trouble: InjectedFault | undefined,
  options: FaultyRpcOptions,
): Promise<Answer> {
  const { upstream, branch } = options;
  if (trouble === "rpcError") return { ...named(call), error: { code: -32_000, message: "internal error" } };
  if (trouble === "otherBranch" && branch === undefined)
    throw new Error("no node of another branch was given");
  const node = trouble === "otherBranch" && branch !== undefined ? branch : upstream;
  const question = await changeQuestion(call, trouble, options);
  const answer = await ask(node, question);
  if (answer.error !== undefined) return { ...named(call), error: answer.error };
  return { ...named(call), result: changed(call.method, answer.result ?? null, trouble) };
}

/** The request as a lagging or faulty node would understand it. */
async function changeQuestion(
  call: Call,
  trouble: InjectedFault | undefined,
  { upstream, otherTransaction }: FaultyRpcOptions,
): Promise<Call> {
  const [first, ...others] = call.params;
  if (trouble === "otherReceipt" && call.method === "eth_getTransactionReceipt")
    return { ...call, params: [otherTransaction ?? first] };
  if (trouble === "staleHead" && call.method === "eth_getBlockByNumber" && !String(first).startsWith("0x")) {
    const head = (await ask(upstream, call)).result as Fields | null;
    const number = Number(head?.["number"] ?? 0);
    return { ...call, params: [`0x${Math.max(0, number - 2).toString(16)}`, ...others] };
  }
  return call;
}

function changed(method: string, result: unknown, trouble: InjectedFault | undefined): unknown {
  const change = trouble === undefined ? undefined : changes[trouble];
  return change?.methods.has(method) === true ? change.to(result) : result;
}

interface Change {
  readonly methods: ReadonlySet<string>;
  to(result: unknown): unknown;
}

/** Changes the fields of an answer. A null answer stays null. */
const ofObject =
  (change: (fields: Fields) => Fields) =>
  (result: unknown): unknown =>
    result === null ? null : change(result as Fields);
const nothing = (): unknown => null;

const blocks: ReadonlySet<string> = new Set(["eth_getBlockByNumber", "eth_getBlockByHash"]);
const receipts: ReadonlySet<string> = new Set(["eth_getTransactionReceipt"]);
const transactions: ReadonlySet<string> = new Set(["eth_getTransactionByHash"]);
const state: ReadonlySet<string> = new Set(["eth_call"]);

/** The faults that change the answers to certain methods. */
const changes: Partial<Record<InjectedFault, Change>> = {
  wrongBlockHash: { methods: blocks, to: ofObject((block) => ({ ...block, hash: wrongHash })) },
  orphanReceipt: {
    methods: receipts,
    to: ofObject((receipt) => withLogs({ ...receipt, blockHash: wrongHash }, moved)),
  },
  brokenLogs: { methods: receipts, to: ofObject((receipt) => withLogs(receipt, withoutData)) },
  nullReceipt: { methods: receipts, to: nothing },
  nullBlock: { methods: blocks, to: nothing },
  nullTransaction: { methods: transactions, to: nothing },
  nullState: { methods: state, to: nothing },
  emptyState: { methods: state, to: () => "0x" },
  wrongChainId: { methods: new Set(["eth_chainId"]), to: () => "0x1" },
};

function withLogs(receipt: Fields, change: (log: Fields) => Fields): Fields {
  return { ...receipt, logs: (receipt["logs"] as Fields[]).map(change) };
}

const moved = (log: Fields): Fields => ({ ...log, blockHash: wrongHash });
const withoutData = (log: Fields): Fields => ({ ...log, data: null });

function named({ id }: Call): Pick<Answer, "jsonrpc" | "id"> {
  return { jsonrpc: "2.0", id };
}

function swapped(answers: readonly Answer[]): Answer[] {
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
