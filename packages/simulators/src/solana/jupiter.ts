import { address } from "@solana/kit";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LocalPools, PoolQuestion } from "./pools.ts";
import { createTokenAccountInstruction } from "./tokens.ts";
import { associatedTokenAccount } from "./depository.ts";
import type { PlainInstruction } from "./wallet.ts";

const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
const COMPUTE_UNITS = 120_000;

export interface JupiterOptions {
  readonly pools: LocalPools;
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** Requests without this key are refused. Absent: no key is required. */
  readonly apiKey?: string;
  /** Included in each answer. */
  readonly lookupTables?: readonly string[];
}

/** Jupiter's swap API over local pools. */
export interface RunningJupiter {
  /** Without `/quote` and `/swap-instructions`. */
  readonly url: string;
  /** The paths of the requests so far, in order. */
  readonly requestedPaths: string[];
  /** Changes every honest answer until it is undefined. */
  change: ((path: "quote" | "swap-instructions", answer: Record<string, unknown>) => unknown) | undefined;
  /** Replaces the answer to every request until it is undefined. */
  respond: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

/** A refusal, in the format of the API. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Serves `GET /swap/v1/quote` and `POST /swap/v1/swap-instructions` as
 * https://dev.jup.ag/docs/api/swap-api documents them.
 */
export async function startJupiter(options: JupiterOptions): Promise<RunningJupiter> {
  const { pools, port = 0, apiKey, lookupTables = [] } = options;

  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const path = /^\/swap\/v1\/(quote|swap-instructions)$/.exec(pathname)?.[1];
    if (apiKey !== undefined && request.headers["x-api-key"] !== apiKey)
      throw new Refusal("UNAUTHORIZED", "Unauthorized");
    server.requestedPaths.push(path ?? pathname);
    if (path === "quote" && request.method === "GET") {
      const honest = quote(pools, searchParams);
      return server.change === undefined ? honest : await server.change(path, honest);
    }
    if (path === "swap-instructions" && request.method === "POST") {
      const honest = await instructions(pools, lookupTables, await readBody(request));
      return server.change === undefined ? honest : await server.change(path, honest);
    }
    throw new Refusal("NOT_FOUND", "Not found");
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (server.respond !== undefined) return server.respond(request, response);
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    try {
      json(200, await answer(request));
    } catch (error) {
      const status = error instanceof Refusal ? statusOf(error.code) : 500;
      json(status, { error: String(error), errorCode: error instanceof Refusal ? error.code : "INTERNAL" });
    }
  };

  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, "127.0.0.1", resolve);
  });
  const server: RunningJupiter = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/swap/v1`,
    requestedPaths: [],
    change: undefined,
    respond: undefined,
    close: async () => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
  return server;
}

function statusOf(code: string): number {
  return code === "UNAUTHORIZED" ? 401 : code === "NOT_FOUND" ? 404 : 400;
}

function quote(pools: LocalPools, query: URLSearchParams): Record<string, unknown> {
  const text = (name: string): string => query.get(name) ?? "";
  const swapMode = query.get("swapMode") ?? "ExactIn";
  const slippageBps = Number(query.get("slippageBps") ?? "50");
  if (!/^[1-9]\d{0,19}$/.test(text("amount")) || (swapMode !== "ExactIn" && swapMode !== "ExactOut"))
    throw new Refusal("INVALID_INPUT", "Query parameter amount or swapMode is invalid");
  const question: PoolQuestion = {
    inputMint: text("inputMint"),
    outputMint: text("outputMint"),
    mode: swapMode,
    amount: BigInt(text("amount")),
  };
  const poolQuote = pools.quote(question);
  if (poolQuote === undefined || poolQuote.out === 0n)
    throw new Refusal("COULD_NOT_FIND_ANY_ROUTE", "Could not find any route");
  const slippage = BigInt(slippageBps);
  const spot = (poolQuote.in * pools.reserve(question.outputMint)) / pools.reserve(question.inputMint);
  return {
    inputMint: question.inputMint,
    inAmount: String(poolQuote.in),
    outputMint: question.outputMint,
    outAmount: String(poolQuote.out),
    otherAmountThreshold: String(
      swapMode === "ExactIn"
        ? (poolQuote.out * (10_000n - slippage)) / 10_000n
        : (poolQuote.in * (10_000n + slippage)) / 10_000n,
    ),
    swapMode,
    slippageBps,
    platformFee: null,
    priceImpactPct: String(1 - Number(poolQuote.out) / Number(spot)),
    routePlan: [],
    contextSlot: 1,
    timeTaken: 0.001,
  };
}

async function instructions(
  pools: LocalPools,
  lookupTables: readonly string[],
  body: { readonly userPublicKey?: unknown; readonly quoteResponse?: Record<string, unknown> },
): Promise<Record<string, unknown>> {
  const { userPublicKey: user, quoteResponse } = body;
  const { inputMint, outputMint, swapMode, inAmount, outAmount, slippageBps } = quoteResponse ?? {};
  const texts = [user, inputMint, outputMint, inAmount, outAmount];
  if (!texts.every((text) => typeof text === "string") || typeof slippageBps !== "number")
    throw new Refusal("INVALID_REQUEST", "quoteResponse or userPublicKey is invalid");
  const [wallet, from, to, inAmountText, outAmountText] = texts as [string, string, string, string, string];
  const isExactIn = swapMode === "ExactIn";
  const swap = await pools.swap(wallet, {
    inputMint: from,
    outputMint: to,
    mode: isExactIn ? "ExactIn" : "ExactOut",
    amount: BigInt(isExactIn ? inAmountText : outAmountText),
    quoted: BigInt(isExactIn ? outAmountText : inAmountText),
    slippageBps,
  });
  const limit = Buffer.alloc(5);
  limit.writeUInt8(2, 0);
  limit.writeUInt32LE(COMPUTE_UNITS, 1);
  const price = Buffer.alloc(9);
  price.writeUInt8(3, 0);
  price.writeBigUInt64LE(1_000n, 1);
  const budget = (data: Buffer) => toWire({ programId: COMPUTE_BUDGET, keys: [], data });
  const account = await associatedTokenAccount(wallet, to);
  const setup = createTokenAccountInstruction(wallet, account, wallet, {
    mint: address(to),
    tokenProgram: TOKEN,
  });
  return {
    tokenLedgerInstruction: null,
    computeBudgetInstructions: [budget(limit), budget(price)],
    setupInstructions: [toWire(setup)],
    swapInstruction: toWire(swap),
    cleanupInstruction: null,
    otherInstructions: [],
    addressLookupTableAddresses: lookupTables,
  };
}

/** An instruction in the format of the API. */
function toWire({ programId, keys, data }: PlainInstruction): object {
  return { programId, accounts: keys, data: Buffer.from(data as Uint8Array).toString("base64") };
}

async function readBody(request: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as object;
  } catch {
    throw new Refusal("INVALID_REQUEST", "body is not JSON");
  }
}
