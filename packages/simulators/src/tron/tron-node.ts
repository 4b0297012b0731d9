import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startAnvil, type NodeAddress } from "@causeway/testkit";
import { anvilRpc, type AnvilRpc } from "./anvil-rpc.ts";
import { jsonRpcMethods, JsonRpcRefusal } from "./json-rpc.ts";
import { createTronChain, type TronChain } from "./tron-chain.ts";
import { quantity } from "./tron-address.ts";
import { headOperations, walletOperations, type View } from "./wallet-api.ts";

/** Result of `eth_chainId` on mainnet. */
export const TRON_MAINNET_CHAIN_ID = 728_126_428;

export interface TronNodeOptions {
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** Default: that of mainnet. */
  readonly chainId?: number;
  /** Number of blocks by which the solid block is behind the head. Default: 19, as on mainnet. */
  readonly solidLagBlocks?: number;
  /** Seconds between empty blocks. Every transaction is mined immediately, in its own block. */
  readonly blockTimeSeconds?: number;
  /** Log file of the underlying anvil. */
  readonly logFile?: string;
}

/** Controls for tests, in addition to the node's API. */
export interface TronControls {
  /** Mines empty blocks. Default 1. */
  mine(blocks?: number): Promise<void>;
  /** Advances the chain's clock and mines a block. */
  passSeconds(seconds: number): Promise<void>;
  /** Mines until the current head is solid. Throws while solidification is paused. */
  solidify(): Promise<void>;
  /** Pauses solidification until it is resumed. */
  pauseSolidification(): Promise<void>;
  resumeSolidification(): void;
  setSolidLag(blocks: number): void;
  /** Replaces the newest blocks with empty ones and drops their transactions. */
  reorg(depth: number): Promise<void>;
  /** Sets an account's balance, in sun. @param address 20 bytes, `0x` */
  fund(address: string, sun: bigint): Promise<void>;
  /**
   * From now on, passes each answer of an operation (`/walletsolidity/getblock`, `eth_getTransactionReceipt`,
   * …) through `lie`. A {@link RawAnswer} is sent unchanged. Call the returned function to stop lying.
   */
  lie(operation: string, lie: TronLie): () => void;
  /** Number of calls of an operation since the start. */
  calls(operation: string): number;
}

export type TronLie = (truth: unknown, question: unknown) => unknown;

/** An HTTP response that is sent unchanged. */
export class RawAnswer {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    this.status = status;
    this.body = body;
  }
}

export interface RunningTron {
  /** Base URL of `/wallet` and `/walletsolidity`. */
  readonly url: string;
  /** As in a chain configuration: `<url>/jsonrpc`. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** The underlying anvil. Deploy contracts there as on any local chain. */
  readonly evm: NodeAddress;
  readonly controls: TronControls;
  close(): Promise<void>;
}

/**
 * A full node of Tron: its HTTP API and its read-only JSON-RPC in front of a real virtual machine.
 *
 * It validates transaction ids, signatures, expiration and reference blocks like a real node, and executes
 * contracts; one sun is one wei in anvil. Blocks become solid a fixed number of blocks behind the head. Not
 * simulated: the price of energy and bandwidth (a fee limit limits the energy, but nothing is charged),
 * votes, TRC-10.
 *
 * @throws PortInUse, ProcessStartFailed
 */
export async function startTronNode(options: TronNodeOptions = {}): Promise<RunningTron> {
  const { chainId = TRON_MAINNET_CHAIN_ID, solidLagBlocks = 19, blockTimeSeconds, logFile } = options;
  const anvil = await startAnvil({
    chainId,
    ...(blockTimeSeconds === undefined ? {} : { blockTimeSeconds, mixedMining: true }),
    ...(logFile === undefined ? {} : { logFile }),
    // Without gas fees, every change of a balance is a payment.
    extraArgs: ["--auto-impersonate", "--base-fee", "0", "--gas-price", "0", "--gas-limit", "1000000000"],
  });
  const rpc = anvilRpc(anvil.url);
  const chain = createTronChain(rpc, BigInt(solidLagBlocks));
  const lies = new Map<string, TronLie>();
  const counts = new Map<string, number>();

  const countAndAnswer = async (
    operation: string,
    question: unknown,
    truth: Promise<unknown>,
  ): Promise<unknown> => {
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
    const lie = lies.get(operation);
    return lie === undefined ? await truth : lie(await truth, question);
  };
  const server = createServer((request, response) => {
    respond(chain, countAndAnswer, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: options.port ?? 0, host: "127.0.0.1" }, resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    rpcUrl: `${url}/jsonrpc`,
    chainId,
    evm: { url: anvil.url, chainId },
    controls: {
      ...chainControls(chain, rpc),
      lie: (operation, lie) => {
        lies.set(operation, lie);
        return () => void lies.delete(operation);
      },
      calls: (operation) => counts.get(operation) ?? 0,
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await anvil.stop();
    },
  };
}

function chainControls(chain: TronChain, rpc: AnvilRpc): Omit<TronControls, "lie" | "calls"> {
  const mine = async (blocks = 1): Promise<void> => void (await rpc("anvil_mine", [quantity(blocks)]));
  return {
    mine,
    passSeconds: async (seconds) => {
      await rpc("evm_increaseTime", [seconds]);
      await mine();
    },
    solidify: async () => {
      const head = await chain.block("head");
      const missing = (head?.number ?? 0n) - (await chain.solidNumber());
      if (missing > 0n) await mine(Number(missing));
      if ((await chain.solidNumber()) < (head?.number ?? 0n)) throw new Error("solidification is paused");
    },
    pauseSolidification: async () => await chain.pauseSolidification(),
    resumeSolidification: () => chain.resumeSolidification(),
    setSolidLag: (blocks) => chain.setLag(BigInt(blocks)),
    reorg: async (depth) => void (await rpc("anvil_reorg", [depth, []])),
    fund: async (address, sun) => void (await rpc("anvil_setBalance", [address, quantity(sun)])),
  };
}

type CountAndAnswer = (operation: string, question: unknown, truth: Promise<unknown>) => Promise<unknown>;

async function respond(
  chain: TronChain,
  countAndAnswer: CountAndAnswer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const text = await textOf(request);
  let body: unknown;
  try {
    body = text === "" ? Object.fromEntries(searchParams) : JSON.parse(text);
  } catch {
    return send(response, 200, JSON.stringify({ Error: "class java.lang.Exception : INVALID json" }));
  }
  if (pathname === "/jsonrpc") {
    const answer = Array.isArray(body)
      ? await Promise.all(body.map(async (call: unknown) => await rpcAnswer(chain, countAndAnswer, call)))
      : await rpcAnswer(chain, countAndAnswer, body);
    if (answer instanceof RawAnswer) return send(response, answer.status, answer.body);
    return send(response, 200, JSON.stringify(answer));
  }
  const [, prefix, name = ""] = /^\/(wallet|walletsolidity)\/(\w+)$/.exec(pathname) ?? [];
  const view: View = prefix === "walletsolidity" ? "solid" : "head";
  const operation = walletOperations.get(name) ?? (view === "head" ? headOperations.get(name) : undefined);
  if (prefix === undefined || operation === undefined)
    return send(response, 404, "<html>404 Not Found</html>");
  const truth = operation(chain, view, body as Readonly<Record<string, unknown>>);
  let answer: unknown;
  try {
    answer = await countAndAnswer(pathname, body, truth);
  } catch (error) {
    answer = { Error: `class ${String(error)}` };
  }
  if (answer instanceof RawAnswer) return send(response, answer.status, answer.body);
  send(response, 200, JSON.stringify(answer));
}

async function rpcAnswer(chain: TronChain, countAndAnswer: CountAndAnswer, body: unknown): Promise<unknown> {
  const { id, method, params } = body as { id?: unknown; method?: unknown; params?: unknown };
  const name = String(method);
  const args: readonly unknown[] = Array.isArray(params) ? params : [];
  try {
    const run = jsonRpcMethods.get(name);
    if (run === undefined)
      throw new JsonRpcRefusal(-32_601, `the method ${name} does not exist/is not available`);
    const result = await countAndAnswer(name, args, run(chain, args));
    return result instanceof RawAnswer ? result : { jsonrpc: "2.0", id, result };
  } catch (error) {
    const code = error instanceof JsonRpcRefusal ? error.code : -32_000;
    return { jsonrpc: "2.0", id, error: { code, message: error instanceof Error ? error.message : "error" } };
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
