import type { Hex } from "viem";
import type { AnvilRpc } from "./anvil-rpc.ts";
import { bare, quantity } from "./tron-address.ts";

/** An anvil block in Tron's format. */
export interface TronBlock {
  readonly number: bigint;
  /** 8 bytes of the number and 24 bytes of anvil's hash, without `0x`. */
  readonly id: string;
  readonly parentId: string;
  readonly timestampMs: number;
  readonly txTrieRoot: string;
  /** Anvil's transaction hashes, in order. */
  readonly transactions: readonly Hex[];
}

/** A broadcast transaction: the JSON that clients send. */
export interface SignedTransaction {
  readonly txID: string;
  readonly raw_data: RawData;
  readonly raw_data_hex: string;
  readonly signature: readonly string[];
  readonly visible?: boolean;
}

export interface RawData {
  readonly contract: readonly [
    { readonly type: string; readonly parameter: { readonly value: ContractValue } },
    ...unknown[],
  ];
  readonly ref_block_bytes: string;
  readonly ref_block_hash: string;
  /** Milliseconds. */
  readonly expiration: number;
  readonly timestamp?: number;
  readonly fee_limit?: number;
  /** The memo, hex. */
  readonly data?: string;
}

/** Content of a native transfer or a contract call. */
export interface ContractValue {
  readonly owner_address: string;
  readonly to_address?: string;
  readonly amount?: number;
  readonly contract_address?: string;
  readonly data?: string;
  readonly call_value?: number;
}

/** One transaction and its counterpart in anvil. */
export interface ExecutedTransaction {
  readonly signed: SignedTransaction;
  /** Its hash in anvil. */
  readonly hash: Hex;
  /** Gas limit in anvil. */
  readonly gasLimit: bigint;
  /** Gas that anvil charges for the bytes alone, which does not count as energy. */
  readonly intrinsicGas: bigint;
}

/**
 * Maps anvil to Tron: blocks with Tron ids, transactions by the hash of what was signed, and the solid block.
 */
export interface TronChain {
  readonly rpc: AnvilRpc;
  /** Undefined above the head. */
  block(at: bigint | "head" | "solid"): Promise<TronBlock | undefined>;
  solidNumber(): Promise<bigint>;
  byId(txId: string): ExecutedTransaction | undefined;
  /** The Tron id of an anvil transaction, without `0x`; its own hash if it was not broadcast here. */
  idOf(hash: Hex): string;
  add(executed: ExecutedTransaction): void;
  /** Number of blocks by which the solid block is behind the head. */
  setLag(blocks: bigint): void;
  /** Pauses solidification until it is resumed. */
  pauseSolidification(): Promise<void>;
  resumeSolidification(): void;
}

interface RawBlock {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: Hex;
  readonly transactionsRoot: Hex;
  readonly transactions: readonly Hex[];
}

export function createTronChain(rpc: AnvilRpc, solidLagBlocks: bigint): TronChain {
  const byId = new Map<string, ExecutedTransaction>();
  const ids = new Map<Hex, string>();
  let lag = solidLagBlocks;
  let pausedAt: bigint | undefined;

  const headNumber = async (): Promise<bigint> => BigInt(String(await rpc("eth_blockNumber")));
  const solidNumber = async (): Promise<bigint> => {
    const head = await headNumber();
    const solid = head > lag ? head - lag : 0n;
    return pausedAt !== undefined && pausedAt < solid ? pausedAt : solid;
  };

  return {
    rpc,
    solidNumber,
    block: async (at) => {
      const number = at === "solid" ? await solidNumber() : at;
      const tag = number === "head" ? "latest" : quantity(number);
      const raw = (await rpc("eth_getBlockByNumber", [tag, false])) as RawBlock | null;
      return raw === null ? undefined : toTronBlock(raw);
    },
    byId: (txId) => byId.get(txId),
    idOf: (hash) => ids.get(hash) ?? bare(hash),
    add: (executed) => {
      byId.set(executed.signed.txID, executed);
      ids.set(executed.hash, executed.signed.txID);
    },
    setLag: (blocks) => void (lag = blocks),
    pauseSolidification: async () => {
      pausedAt = await solidNumber();
    },
    resumeSolidification: () => void (pausedAt = undefined),
  };
}

function toTronBlock(raw: RawBlock): TronBlock {
  const number = BigInt(raw.number);
  return {
    number,
    id: blockIdOf(number, raw.hash),
    parentId: number === 0n ? "0".repeat(64) : blockIdOf(number - 1n, raw.parentHash),
    timestampMs: Number(BigInt(raw.timestamp)) * 1_000,
    txTrieRoot: bare(raw.transactionsRoot),
    transactions: raw.transactions,
  };
}

/** The first 8 bytes of a block's id are its number. */
export function blockIdOf(number: bigint, hash: Hex): string {
  return number.toString(16).padStart(16, "0") + bare(hash).slice(16);
}
