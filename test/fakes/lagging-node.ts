import { NodeRefusal, type RpcTransport } from "@causeway/chains";

/** The data of its newest blocks that a lagging node lacks. */
export type Lag =
  /** Returns the logs that it has for a range, and refuses single blocks. */
  | "logs"
  /** Returns an empty list for missing logs, even for a single block. */
  | "logs without an error"
  /** Lacks blocks and their logs. */
  | "blocks"
  /** Lacks receipts and transactions. */
  | "receipts";

type Call = { readonly method: string; readonly params: readonly unknown[] };
const numberOf = (entry: { readonly blockNumber?: string; readonly number?: string } | null): bigint =>
  BigInt(entry?.blockNumber ?? entry?.number ?? 0);

/**
 * One URL with two nodes behind it. One is honest, the other lags by `blocks` blocks. An HTTP request goes to
 * the lagging node if `isLagging` is true for one of its calls.
 */
export function laggingNode(
  honest: RpcTransport,
  {
    lag,
    blocks,
    isLagging,
  }: { readonly lag: Lag; readonly blocks: bigint; readonly isLagging: () => boolean },
): RpcTransport {
  const newestKnown = async (): Promise<bigint> =>
    BigInt(String(await honest.request("eth_blockNumber", []))) - blocks;

  const lagBehind = async ({ method, params }: Call, answer: unknown): Promise<unknown> => {
    const newest = await newestKnown();
    if (method === "eth_getLogs" && lag !== "receipts" && Array.isArray(answer)) {
      const [{ blockHash }] = params as [{ readonly blockHash?: string }];
      if (blockHash !== undefined && lag !== "logs without an error") {
        const block = await honest.request("eth_getBlockByHash", [blockHash, false]);
        if (numberOf(block as null) > newest)
          throw new NodeRefusal({
            method,
            nodeCode: -32_000,
            nodeText: "unknown block",
            nodeData: undefined,
          });
      }
      return answer.filter((log: { blockNumber: string }) => numberOf(log) <= newest);
    }
    const isBlock = method === "eth_getBlockByNumber" || method === "eth_getBlockByHash";
    const isReceipt = method === "eth_getTransactionReceipt" || method === "eth_getTransactionByHash";
    if ((lag === "blocks" && isBlock) || (lag === "receipts" && isReceipt))
      return numberOf(answer as null) > newest ? null : answer;
    return answer;
  };

  return {
    ...honest,
    request: async (method, params, options) => {
      const answer = await honest.request(method, params, options);
      return isLagging() ? await lagBehind({ method, params }, answer) : answer;
    },
    requestBatch: async (calls, options) => {
      const answers = await honest.requestBatch(calls, options);
      if (!isLagging()) return answers;
      return await Promise.all(calls.map(async (call, at) => await lagBehind(call, answers[at])));
    },
  };
}
