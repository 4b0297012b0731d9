// A separate process: a node of both chains that answers every call immediately.
import { rawKeySigner } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { createServer } from "node:http";
import { encodeAbiParameters, encodeFunctionData, erc20Abi, keccak256, toHex } from "viem";
import {
  ALDER,
  AMOUNT,
  BIRCH,
  blockHash,
  blockNumberOf,
  DEPOSIT_LOG_INDEX,
  depositHash,
  DEPOSITORY,
  fillHash,
  HEAD_NUMBER,
  orderIdAt,
  SOLVER_KEY,
  timestampOf,
  TOKEN,
  transactionOf,
  USER,
} from "./facts.ts";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const solver = rawKeySigner(SOLVER_KEY).address;
const TRANSFER = keccak256(toHex("Transfer(address,address,uint256)"));
const DEPOSITED = keccak256(toHex("Erc20Deposit(address,address,uint256,bytes32)"));
const results = new Map<string, string>();

const [port = "", count = ""] = process.argv.slice(2);
// All answers are built before the first call.
for (let index = 0; index < Number(count); index++) {
  resultOf("eth_getTransactionReceipt", depositHash(index), 0);
  resultOf("eth_getTransactionReceipt", fillHash(index), 0);
  resultOf("eth_getTransactionByHash", fillHash(index), 0);
  resultOf("eth_getBlockByNumber", quantity(blockNumberOf(index)), 0);
}
const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end();
    return;
  }
  const chainId = request.url === "/birch" ? BIRCH.chainId : ALDER.chainId;
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part: string) => (text += part));
  request.on("end", () => {
    const calls = JSON.parse(text) as Call | readonly Call[];
    const answer =
      "id" in calls
        ? answerTo(calls, chainId)
        : `[${calls.map((call) => answerTo(call, chainId)).join(",")}]`;
    response
      .writeHead(200, { "content-type": "application/json", "content-length": answer.length })
      .end(answer);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(port), "127.0.0.1");
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});

function answerTo({ id, method, params }: Call, chainId: number): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${resultOf(method, String(params[0]), chainId)}}`;
}

function resultOf(method: string, parameter: string, chainId: number): string {
  if (method === "eth_chainId") return JSON.stringify(quantity(chainId));
  const key = `${method} ${parameter}`;
  const cached = results.get(key);
  if (cached !== undefined) return cached;
  const built = JSON.stringify(buildResult(method, parameter));
  results.set(key, built);
  return built;
}

function buildResult(method: string, parameter: string): unknown {
  if (method === "eth_getBlockByNumber")
    return blockAt(parameter === "finalized" ? HEAD_NUMBER : Number(parameter));
  if (method === "eth_getTransactionReceipt") return receiptOf(parameter);
  if (method === "eth_getTransactionByHash") return contentOf(parameter);
  throw new Error(`fake node does not support ${method}`);
}

function blockAt(number: number): unknown {
  return {
    number: quantity(number),
    hash: blockHash(number),
    parentHash: blockHash(number - 1),
    timestamp: quantity(timestampOf(number)),
    baseFeePerGas: "0x1",
  };
}

function blockFieldsOf(hash: string): Readonly<Record<string, string>> {
  const number = blockNumberOf(transactionOf(hash).index);
  return { transactionHash: hash, blockNumber: quantity(number), blockHash: blockHash(number) };
}

function receiptOf(hash: string): unknown {
  const { isFill, index } = transactionOf(hash);
  const transfer = isFill ? transferLog(solver, USER) : transferLog(USER, DEPOSITORY);
  const logs = isFill ? [transfer] : [transfer, depositLog(orderIdAt(index, solver))];
  return {
    ...blockFieldsOf(hash),
    status: "0x1",
    gasUsed: "0x5208",
    effectiveGasPrice: "0x1",
    logs: logs.map((log, logOffset) => ({
      ...blockFieldsOf(hash),
      ...log,
      logIndex: quantity(DEPOSIT_LOG_INDEX - 1 + logOffset),
      transactionIndex: "0x0",
      removed: false,
    })),
  };
}

function contentOf(hash: string): unknown {
  const { isFill, index } = transactionOf(hash);
  const to = isFill ? USER : DEPOSITORY;
  const input = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, AMOUNT] });
  const { blockNumber, blockHash: inBlock } = blockFieldsOf(hash);
  return {
    hash,
    blockNumber,
    blockHash: inBlock,
    nonce: "0x0",
    from: isFill ? solver : USER,
    to: TOKEN,
    value: "0x0",
    input: `${input}${orderIdAt(index, solver).slice(2)}`,
  };
}

function transferLog(from: Hex, to: Hex): object {
  const topic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, "0")}`;
  return {
    address: TOKEN,
    topics: [TRANSFER, topic(from), topic(to)],
    data: encodeAbiParameters([{ type: "uint256" }], [AMOUNT]),
  };
}

function depositLog(orderId: Hex): object {
  const types = [{ type: "address" }, { type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  return {
    address: DEPOSITORY,
    topics: [DEPOSITED],
    data: encodeAbiParameters(types, [USER, TOKEN, AMOUNT, orderId]),
  };
}

function quantity(value: number): Hex {
  return `0x${value.toString(16)}`;
}
