import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "@causeway/domain";
import { json, startLyingNode, type Answer, type LyingNode, type RpcCall } from "./lying-node.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The answers of one endpoint of a chain; a test may change them at any time. */
export interface Script {
  /** Number of its newest block. */
  height: number;
  chainId: number;
  /** Answers in place of the honest ones, by method. */
  answers: Record<string, (call: RpcCall) => Answer | undefined>;
  /** Answers all requests with this HTTP status. */
  http?: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | undefined;
  delayMs: number;
}

export interface ScriptedEndpoint extends LyingNode {
  readonly script: Script;
  /** Calls of a method so far. */
  count(method: string): number;
}

export const blockHash = (number: number, fork = "b"): Hex =>
  `0x${`${fork}${number.toString(16)}`.padStart(64, "0")}`;
export const quantity = (value: number): Hex => `0x${value.toString(16)}`;

export function blockOf(number: number, fork = "b"): Fields {
  return {
    number: quantity(number),
    hash: blockHash(number, fork),
    parentHash: blockHash(number - 1, fork),
    timestamp: quantity(1_700_000_000 + number),
    baseFeePerGas: "0x1",
  };
}

/** An endpoint of a chain without transactions, over HTTP. */
export async function startScriptedEndpoint(options: Partial<Script> = {}): Promise<ScriptedEndpoint> {
  const script: Script = { height: 100, chainId: 7, answers: {}, delayMs: 0, ...options };
  const honest = ({ method, params }: RpcCall): Answer => {
    const [first] = params;
    switch (method) {
      case "eth_chainId":
        return { result: quantity(script.chainId) };
      case "eth_getBlockByNumber": {
        const number = first === "latest" ? script.height : Number(first);
        return { result: number > script.height ? null : blockOf(number) };
      }
      case "eth_getTransactionReceipt":
      case "eth_getTransactionByHash":
        return { result: null };
      case "eth_getTransactionCount":
        return { result: "0x5" };
      case "eth_getLogs":
        return { result: [] };
      default:
        return { error: { code: -32_601, message: `the method ${method} does not exist` } };
    }
  };
  const node = await startLyingNode((calls, response, isBatch) => {
    const answer = async (): Promise<void> => {
      if (script.delayMs > 0) await sleep(script.delayMs);
      if (script.http !== undefined) {
        response.writeHead(script.http.status, script.http.headers).end("busy");
        return;
      }
      const answers = calls.map((call) => ({
        jsonrpc: "2.0",
        id: call.id,
        ...(script.answers[call.method]?.(call) ?? honest(call)),
      }));
      json(response, isBatch ? answers : answers[0]);
    };
    void answer();
  });
  return {
    ...node,
    script,
    count: (method) => node.requests.flat().filter((call) => call.method === method).length,
  };
}
