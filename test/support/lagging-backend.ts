import type { AskNode, ProviderCall, Reply } from "./provider-proxy.ts";

type Fields = Readonly<Record<string, unknown>>;

const hex = (number: number): string => `0x${number.toString(16)}`;
const refused = (message: string): Reply => ({ error: { code: -32_000, message } });

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
  const at = stateReads.get(method);
  if (at !== undefined) {
    const block = params[at];
    const byHash = (block as Fields | undefined)?.["blockHash"];
    if (isNewer(block)) return refused("header not found");
    if (byHash !== undefined && (await isNewerHash(byHash))) return refused("header for hash not found");
    return await node(method, block === "latest" ? params.with(at, hex(head)) : params);
  }
  const reply = await node(method, params);
  const found = fieldsOf(reply);
  if (method === "eth_getBlockByHash" && isNewer(found?.["number"])) return { result: null };
  if (method === "eth_getTransactionReceipt" && isNewer(found?.["blockNumber"])) return { result: null };
  if (method === "eth_getTransactionByHash" && isNewer(found?.["blockNumber"]))
    return { result: { ...found, blockNumber: null, blockHash: null, transactionIndex: null } };
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
      ? refused("unknown block")
      : await node("eth_getLogs", [filter]);
  if (isNewer(filter["toBlock"])) return refused("block range extends beyond current head block");
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
