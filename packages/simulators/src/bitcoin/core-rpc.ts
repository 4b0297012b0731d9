import { btcOf, coreHeader, coreOutput, blockFields, coreTransaction } from "./core-shapes.ts";
import type { IndexedBlock } from "./chain-index.ts";
import { vsizeOf } from "./raw-transaction.ts";
import { CoreError, type RegtestNode } from "./regtest-node.ts";

type Method = (node: RegtestNode, params: readonly unknown[]) => unknown;

/** The JSON-RPC methods of Bitcoin Core that a service needs, and its regtest methods. */
const METHODS: Readonly<Record<string, Method>> = {
  getblockchaininfo: ({ index }) => ({
    chain: "regtest",
    blocks: index.height,
    headers: index.height,
    bestblockhash: index.tip.hash,
    time: index.tip.time,
    initialblockdownload: false,
    pruned: false,
  }),
  getnetworkinfo: () => ({ version: 280_000, relayfee: btcOf(1_000n), incrementalfee: btcOf(1_000n) }),
  getindexinfo: ({ index }) => ({ txindex: { synced: true, best_block_height: index.height } }),
  getblockcount: ({ index }) => index.height,
  getbestblockhash: ({ index }) => index.tip.hash,
  getblockhash: ({ index }, [height]) => {
    const block = typeof height === "number" ? index.blockAt(height) : undefined;
    if (block === undefined) throw new CoreError(-8, "Block height out of range");
    return block.hash;
  },
  getblockheader: (node, [hash, verbose = true]) => {
    const block = requireBlock(node, hash);
    return verbose === false ? block.header : coreHeader(node, block);
  },
  getblock: (node, [hash, verbosity = 1]) => {
    const block = requireBlock(node, hash);
    const level = Number(verbosity);
    if (level === 0) return block.hex;
    return {
      ...coreHeader(node, block),
      size: block.hex.length / 2,
      tx: block.transactions.map((tx) => (level >= 2 ? coreTransaction(tx) : tx.txid)),
    };
  },
  getrawtransaction: (node, [txid, verbose = false, blockHash]) => {
    const id = String(txid);
    if (!/^[0-9a-f]{64}$/i.test(id))
      throw new CoreError(-8, `txid must be of length 64 (not ${id.length}, for '${id}')`);
    const requestedBlock =
      blockHash === undefined || blockHash === null ? undefined : requireBlock(node, blockHash);
    const unconfirmed = requestedBlock === undefined ? node.mempoolTransaction(id.toLowerCase()) : undefined;
    const block =
      unconfirmed === undefined ? (requestedBlock ?? node.index.blockOf(id.toLowerCase())) : undefined;
    const tx =
      unconfirmed ?? block?.transactions.find((transaction) => transaction.txid === id.toLowerCase());
    if (tx === undefined)
      throw new CoreError(
        -5,
        requestedBlock === undefined
          ? "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."
          : "No such transaction found in the provided block. Use gettransaction for wallet transactions.",
      );
    if (Number(verbose) === 0) return tx.hex;
    return { ...coreTransaction(tx), ...blockFields(node, block) };
  },
  sendrawtransaction: async (node, [hex]) => await node.send(String(hex)),
  getrawmempool: (node) => node.mempool.map(({ txid }) => txid),
  getmempoolentry: (node, [txid]) => {
    const tx = node.mempoolTransaction(String(txid));
    if (tx === undefined) throw new CoreError(-5, "Transaction not in mempool");
    return { vsize: vsizeOf(tx), weight: tx.weight, fees: { base: btcOf(node.feeOf(tx) ?? 0n) } };
  },
  gettxspendingprevout: (node, [outpoints]) =>
    (outpoints as readonly { txid: string; vout: number }[]).map(({ txid, vout }) => {
      const spender = node.mempoolSpender(txid, vout);
      return { txid, vout, ...(spender !== undefined && { spendingtxid: spender.txid }) };
    }),
  gettxout: (node, [txid, n, withMempool = true]) => {
    const id = String(txid);
    const vout = Number(n);
    const tx =
      (withMempool === false ? undefined : node.mempoolTransaction(id)) ?? node.index.transaction(id);
    const block = node.index.blockOf(id);
    const isUnspent =
      node.index.spendOf(id, vout) === undefined &&
      (withMempool === false || node.mempoolSpender(id, vout) === undefined);
    if (tx?.outputs[vout] === undefined || !isUnspent) return null;
    return { bestblock: node.index.tip.hash, ...blockFields(node, block), ...coreOutput(tx, vout) };
  },
  estimatesmartfee: (_node, [blocks]) => ({ feerate: btcOf(2_500n), blocks }),
  generatetoaddress: async (node, [blocks, address]) => await node.mine(Number(blocks), String(address)),
  generateblock: async (node, [address, transactions]) => ({
    hash: await node.mineExactly(String(address), transactions as readonly string[]),
  }),
  invalidateblock: async (node, [hash]) => {
    await node.invalidate(String(hash));
    return null;
  },
  setmocktime: (node, [unixSeconds]) => {
    node.setMockTime(Number(unixSeconds));
    return null;
  },
};

/** The answer to one JSON-RPC call. */
export async function answerCall(node: RegtestNode, call: unknown): Promise<object> {
  const { id = null, method, params = [], jsonrpc } = (call ?? {}) as Record<string, unknown>;
  const version = jsonrpc === "2.0" ? { jsonrpc } : undefined;
  try {
    const run = METHODS[String(method)];
    if (run === undefined) throw new CoreError(-32601, "Method not found");
    if (!Array.isArray(params)) throw new CoreError(-32600, "Params must be an array");
    const result = await run(node, params as readonly unknown[]);
    return version === undefined ? { result, error: null, id } : { ...version, result, id };
  } catch (error) {
    const { code, message } =
      error instanceof CoreError
        ? error
        : { code: -1, message: error instanceof Error ? error.message : "error" };
    const failure = { error: { code, message }, id };
    return version === undefined ? { result: null, ...failure } : { ...version, ...failure };
  }
}

function requireBlock(node: RegtestNode, hash: unknown): IndexedBlock {
  const block = node.index.block(String(hash));
  if (block === undefined) throw new CoreError(-5, "Block not found");
  return block;
}
