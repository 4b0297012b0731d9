import type { AskNode, ProviderCall, Reply } from "./provider-proxy.ts";

type Fields = Readonly<Record<string, unknown>>;

const hex = (number: number): string => `0x${number.toString(16)}`;
const refusal = (message: string): Reply => ({ error: { code: -32_000, message } });

/** The index of the block parameter of each method that reads state. */
const stateReads = new Map([
  ["eth_call", 1],
  ["eth_estimateGas", 1],
  ["eth_getBalance", 1],
  ["eth_getCode", 1],
  ["eth_getTransactionCount", 1],
  ["debug_traceCall", 1],
  ["eth_simulateV1", 1],
  ["eth_getStorageAt", 2],
]);

/** The answer of a node that lacks the newest `blocks` blocks and has geth's error texts. */
export async function replyOfLaggingBackend(
  call: ProviderCall,
  node: AskNode,
  blocks: number,
): Promise<Reply> {
  const head = Number(resultOf(await node("eth_blockNumber", []))) - blocks;
  const isNewer = (block: unknown): boolean =>
    typeof block === "string" && /^0x[0-9a-f]{1,12}$/i.test(block) && Number(block) > head;
  const isNewerHash = async (hash: unknown): Promise<boolean> =>
    isNewer(fieldsOf(await node("eth_getBlockByHash", [hash, false]))?.["number"]);
  const { method, params } = call;
  if (method === "eth_blockNumber") return { result: hex(head) };
  if (method === "eth_getBlockByNumber") {
    if (isNewer(params[0])) return { result: null };
    return await node(method, [params[0] === "latest" ? hex(head) : params[0], params[1]]);
  }
  if (method === "eth_getLogs")
    return await logsOf(params[0] as Fields, node, head, { isNewer, isNewerHash });
  const blockIndex = stateReads.get(method);
  if (blockIndex !== undefined) {
    const block = params[blockIndex];
    const blockHash = (block as Fields | undefined)?.["blockHash"];
    if (isNewer(block)) return refusal("header not found");
    if (blockHash !== undefined && (await isNewerHash(blockHash)))
      return refusal("header for hash not found");
    return await node(method, block === "latest" ? params.with(blockIndex, hex(head)) : params);
  }
  const reply = await node(method, params);
  const answer = fieldsOf(reply);
  if (method === "eth_getBlockByHash" && isNewer(answer?.["number"])) return { result: null };
  if (method === "eth_getTransactionReceipt" && isNewer(answer?.["blockNumber"])) return { result: null };
  if (method === "eth_getTransactionByHash" && isNewer(answer?.["blockNumber"]))
    return { result: { ...answer, blockNumber: null, blockHash: null, transactionIndex: null } };
  return reply;
}

async function logsOf(
  filter: Fields,
  node: AskNode,
  head: number,
  {
    isNewer,
    isNewerHash,
  }: Record<"isNewer", (block: unknown) => boolean> &
    Record<"isNewerHash", (hash: unknown) => Promise<boolean>>,
): Promise<Reply> {
  if (filter["blockHash"] !== undefined)
    return (await isNewerHash(filter["blockHash"]))
      ? refusal("unknown block")
      : await node("eth_getLogs", [filter]);
  if (isNewer(filter["toBlock"])) return refusal("block range extends beyond current head block");
  const toBlock = filter["toBlock"] === "latest" ? hex(head) : filter["toBlock"];
  return await node("eth_getLogs", [{ ...filter, toBlock }]);
}

export function resultOf(reply: Reply): unknown {
  return "result" in reply ? reply.result : undefined;
}

function fieldsOf(reply: Reply): Fields | undefined {
  const result = resultOf(reply);
  return typeof result === "object" && result !== null ? (result as Fields) : undefined;
}
