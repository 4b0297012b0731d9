import type { IndexedBlock } from "./chain-index.ts";
import {
  isCoinbase,
  vsizeOf,
  type RawOutput,
  type RawTransaction,
  type ScriptKind,
} from "./raw-transaction.ts";
import { CoreError, type RegtestNode } from "./regtest-node.ts";

/** An explorer's response: JSON for objects, plain text otherwise. */
export interface EsploraAnswer {
  readonly status: number;
  readonly body: object | string;
}

const TYPES: Readonly<Record<ScriptKind, string>> = {
  pk: "p2pk",
  pkh: "p2pkh",
  sh: "p2sh",
  wpkh: "v0_p2wpkh",
  wsh: "v0_p2wsh",
  tr: "v1_p2tr",
  ms: "multisig",
  return: "op_return",
  other: "unknown",
};

/** Maximum transactions per response about an address. */
const PAGE = 25;

/** Answers a request to Esplora's REST API. `path` is relative to its base. */
export function answerEsplora(node: RegtestNode, path: string): EsploraAnswer {
  const [kind = "", name = "", part, detail] = path.split("/").slice(1);
  switch (kind) {
    case "tx":
      return answerTransaction(node, name, part, detail);
    case "address":
      return answerAddress(node, name, part, detail);
    case "blocks":
      if (name === "tip" && part === "height") return text(String(node.index.height));
      if (name === "tip" && part === "hash") return text(node.index.tip.hash);
      return notFound("Block not found");
    case "block-height": {
      const block = node.index.blockAt(Number(name));
      return block === undefined ? notFound("Block not found") : text(block.hash);
    }
    case "block":
      return answerBlock(node, name, part);
    case "fee-estimates":
      return json({ "1": 3, "2": 2.5, "3": 2.012, "6": 2, "144": 1.01, "1008": 1 });
    default:
      return notFound("endpoint does not exist");
  }
}

/** Submits a transaction in hex. */
export async function postTransaction(node: RegtestNode, hex: string): Promise<EsploraAnswer> {
  try {
    return text(await node.send(hex.trim()));
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    const { code, message } = error;
    return { status: 400, body: `sendrawtransaction RPC error: ${JSON.stringify({ code, message })}` };
  }
}

function answerTransaction(
  node: RegtestNode,
  txid: string,
  part: string | undefined,
  detail: string | undefined,
): EsploraAnswer {
  const tx = node.mempoolTransaction(txid) ?? confirmedTransaction(node, txid);
  if (tx === undefined) return notFound("Transaction not found");
  switch (part) {
    case undefined:
      return json(transaction(node, tx));
    case "hex":
      return text(tx.hex);
    case "status":
      return json(status(node, txid));
    case "outspend":
      return json(outspend(node, txid, Number(detail)));
    case "outspends":
      return json(tx.outputs.map((_, vout) => outspend(node, txid, vout)));
    default:
      return notFound("endpoint does not exist");
  }
}

function answerBlock(node: RegtestNode, hash: string, part: string | undefined): EsploraAnswer {
  const block = node.index.block(hash);
  if (block === undefined) return notFound("Block not found");
  switch (part) {
    case undefined:
      return json({
        id: block.hash,
        height: block.height,
        timestamp: block.time,
        tx_count: block.transactions.length,
        previousblockhash: block.previous ?? null,
      });
    case "status":
      return json({ in_best_chain: node.index.isInChain(block), height: block.height });
    case "txids":
      return json(block.transactions.map(({ txid }) => txid));
    case "header":
      return text(block.header);
    default:
      return notFound("endpoint does not exist");
  }
}

function answerAddress(
  node: RegtestNode,
  address: string,
  part: string | undefined,
  after: string | undefined,
): EsploraAnswer {
  if (part === "utxo") {
    const outputs = transactionsOf(node, address).flatMap((tx) =>
      tx.outputs.flatMap((output, vout) =>
        output.address === address && !outspend(node, tx.txid, vout).spent
          ? [{ txid: tx.txid, vout, status: status(node, tx.txid), value: Number(output.amount) }]
          : [],
      ),
    );
    return json(outputs);
  }
  if (part !== "txs") return notFound("endpoint does not exist");
  const all = transactionsOf(node, address);
  const from = after === "chain" || after === undefined ? 0 : all.findIndex(({ txid }) => txid === after) + 1;
  return json(all.slice(from, from + PAGE).map((tx) => transaction(node, tx)));
}

/** Transactions that pay an address or spend from it, the newest first. */
function transactionsOf(node: RegtestNode, address: string): readonly RawTransaction[] {
  const all = [...node.mempool.toReversed(), ...[...node.index.newestFirst()].map(({ tx }) => tx)];
  return all.filter(
    ({ inputs, outputs }) =>
      outputs.some((output) => output.address === address) ||
      inputs.some(({ txid, vout }) => node.output(txid, vout)?.address === address),
  );
}

function confirmedTransaction(node: RegtestNode, txid: string): RawTransaction | undefined {
  const block = node.index.blockOf(txid);
  return block !== undefined && node.index.isInChain(block) ? node.index.transaction(txid) : undefined;
}

function outspend(node: RegtestNode, txid: string, vout: number): { readonly spent: boolean } {
  const spend = node.index.spendOf(txid, vout);
  if (spend !== undefined)
    return { spent: true, ...spend, status: status(node, spend.txid) } as { spent: boolean };
  const spender = node.mempoolSpender(txid, vout);
  if (spender === undefined) return { spent: false };
  const vin = spender.inputs.findIndex((input) => input.txid === txid && input.vout === vout);
  return { spent: true, txid: spender.txid, vin, status: { confirmed: false } } as { spent: boolean };
}

function status(node: RegtestNode, txid: string): object {
  const block: IndexedBlock | undefined = node.index.blockOf(txid);
  if (block === undefined || !node.index.isInChain(block)) return { confirmed: false };
  return { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time };
}

function transaction(node: RegtestNode, tx: RawTransaction): object {
  return {
    txid: tx.txid,
    version: tx.version,
    locktime: tx.lockTime,
    vin: tx.inputs.map((input) => {
      const prevout = isCoinbase(tx) ? undefined : node.output(input.txid, input.vout);
      return {
        txid: input.txid,
        vout: input.vout,
        prevout: prevout === undefined ? null : outputOf(prevout),
        scriptsig: input.scriptSig,
        is_coinbase: isCoinbase(tx),
        sequence: input.sequence,
        ...(input.witness.length > 0 && { witness: input.witness }),
      };
    }),
    vout: tx.outputs.map(outputOf),
    size: tx.size,
    weight: tx.weight,
    sigops: 0,
    fee: isCoinbase(tx) ? 0 : Number(node.feeOf(tx) ?? 0n),
    vsize: vsizeOf(tx),
    status: status(node, tx.txid),
  };
}

function outputOf({ script, kind, address, amount }: RawOutput): object {
  return {
    scriptpubkey: script,
    scriptpubkey_asm: "",
    scriptpubkey_type: TYPES[kind],
    ...(address !== undefined && { scriptpubkey_address: address }),
    value: Number(amount),
  };
}

function text(body: string): EsploraAnswer {
  return { status: 200, body };
}

function json(body: object): EsploraAnswer {
  return { status: 200, body };
}

function notFound(body: string): EsploraAnswer {
  return { status: 404, body };
}
