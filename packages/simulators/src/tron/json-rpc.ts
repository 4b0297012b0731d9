import type { Hex } from "viem";
import { AnvilError } from "./anvil-rpc.ts";
import { blockIdOf, type TronChain } from "./tron-chain.ts";
import { quantity } from "./tron-address.ts";

/** Tron's second API: read-only Ethereum JSON-RPC, with Tron's transaction hashes and block ids. */

/** A JSON-RPC error. */
export class JsonRpcRefusal extends Error {
  override readonly name = "JsonRpcRefusal";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Params = readonly unknown[];
type Method = (chain: TronChain, params: Params) => Promise<unknown>;

/** Maximum blocks of one log query. */
const MAX_BLOCKS = 5_000n;

export const jsonRpcMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["eth_chainId", async (chain) => await chain.rpc("eth_chainId")],
  ["net_version", async (chain) => await chain.rpc("eth_chainId")],
  ["eth_blockNumber", async (chain) => await chain.rpc("eth_blockNumber")],
  ["eth_getBlockByNumber", async (chain, [tag]) => await blockAnswer(chain, tag)],
  [
    "eth_getBlockByHash",
    async (chain, [hash]) => {
      const id = withPrefix(hash);
      const block = await blockAnswer(chain, quantity(BigInt(id.slice(0, 18))));
      return block?.["hash"] === id ? block : null;
    },
  ],
  [
    "eth_getTransactionByHash",
    async (chain, [hash]) =>
      await withTronIds(chain, await chain.rpc("eth_getTransactionByHash", [anvilHash(chain, hash)])),
  ],
  [
    "eth_getTransactionReceipt",
    async (chain, [hash]) =>
      await withTronIds(chain, await chain.rpc("eth_getTransactionReceipt", [anvilHash(chain, hash)])),
  ],
  ["eth_getLogs", async (chain, [filter]) => await logs(chain, filter)],
  ["eth_call", async (chain, [call, tag]) => await atLatest(chain, "eth_call", [call], tag)],
  [
    "eth_getBalance",
    async (chain, [account, tag]) => await atLatest(chain, "eth_getBalance", [account], tag),
  ],
  ["eth_getCode", async (chain, [account, tag]) => await atLatest(chain, "eth_getCode", [account], tag)],
]);

type Fields = Readonly<Record<string, unknown>>;

/** A hash with `0x`, whether or not the request had it. */
function withPrefix(hash: unknown): Hex {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(String(hash)) ?? [];
  if (digits === undefined) throw new JsonRpcRefusal(-32_602, "invalid hash value");
  return `0x${digits.toLowerCase()}`;
}

/** The anvil transaction of an id. */
function anvilHash(chain: TronChain, hash: unknown): Hex {
  const prefixed = withPrefix(hash);
  return chain.byId(prefixed.slice(2))?.hash ?? prefixed;
}

async function atLatest(chain: TronChain, method: string, params: Params, tag: unknown): Promise<unknown> {
  if (tag !== "latest")
    throw new JsonRpcRefusal(-32_602, "QUANTITY not supported, just support TAG as latest");
  try {
    return await chain.rpc(method, [...params, "latest"]);
  } catch (error) {
    if (error instanceof AnvilError) throw new JsonRpcRefusal(-32_000, "REVERT opcode executed");
    throw error;
  }
}

async function blockAnswer(chain: TronChain, tag: unknown): Promise<Fields | null> {
  // JSON-RPC has its own tag for solid blocks.
  const blockTag = tag === "finalized" ? quantity(await chain.solidNumber()) : tag;
  const block = (await chain.rpc("eth_getBlockByNumber", [blockTag, false])) as Fields | null;
  if (block === null) return null;
  const number = BigInt(String(block["number"]));
  const hashes = block["transactions"] as readonly Hex[];
  return {
    ...block,
    hash: `0x${blockIdOf(number, block["hash"] as Hex)}`,
    parentHash:
      number === 0n ? `0x${"0".repeat(64)}` : `0x${blockIdOf(number - 1n, block["parentHash"] as Hex)}`,
    transactions: hashes.map((hash) => `0x${chain.idOf(hash)}`),
  };
}

async function logs(chain: TronChain, filter: unknown): Promise<unknown> {
  const { fromBlock, toBlock } = filter as { readonly fromBlock?: Hex; readonly toBlock?: Hex };
  if (fromBlock?.startsWith("0x") === true && toBlock?.startsWith("0x") === true)
    if (BigInt(toBlock) - BigInt(fromBlock) > MAX_BLOCKS)
      throw new JsonRpcRefusal(-32_602, `exceed max block range: ${MAX_BLOCKS}`);
  const anvilLogs = (await chain.rpc("eth_getLogs", [filter])) as readonly unknown[];
  return await Promise.all(anvilLogs.map(async (log) => await withTronIds(chain, log)));
}

/** A receipt, a transaction or a log with Tron's ids. */
async function withTronIds(chain: TronChain, value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Fields;
  const number = fields["blockNumber"];
  const block = typeof number === "string" ? await chain.block(BigInt(number)) : undefined;
  const inner = fields["logs"];
  return {
    ...fields,
    ...(block === undefined ? {} : { blockHash: `0x${block.id}` }),
    ...tronIdField(chain, fields, "transactionHash"),
    ...tronIdField(chain, fields, "hash"),
    ...(Array.isArray(inner)
      ? { logs: await Promise.all(inner.map(async (log: unknown) => await withTronIds(chain, log))) }
      : {}),
  };
}

function tronIdField(chain: TronChain, fields: Fields, name: string): Fields {
  const hash = fields[name];
  return typeof hash === "string" ? { [name]: `0x${chain.idOf(hash as Hex)}` } : {};
}
