import type { Hex } from "viem";
import type { AnvilRpc } from "./anvil-rpc.ts";
import { bare, quantity } from "./tron-address.ts";

/** A block of the node beneath, in the words of the chain that is shown. */
export interface TronBlock {
  readonly number: bigint;
  /** 8 bytes of the number and 24 of the hash beneath; without `0x`. */
  readonly id: string;
  readonly parentId: string;
  readonly timestampMs: number;
  readonly txTrieRoot: string;
  /** Hashes beneath, in order. */
  readonly transactions: readonly Hex[];
}

/** A transaction as it was broadcast: the JSON that clients send. */
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

/** Of a transfer of the native token, or of a call. */
export interface ContractValue {
  readonly owner_address: string;
  readonly to_address?: string;
  readonly amount?: number;
  readonly contract_address?: string;
  readonly data?: string;
  readonly call_value?: number;
}

/** One transaction and where it went. */
export interface ExecutedTransaction {
  readonly signed: SignedTransaction;
  /** Beneath. */
  readonly hash: Hex;
  /** What it might use of the machine beneath at most. */
  readonly gasLimit: bigint;
  /** What the underlying EVM charges for the bytes alone, which is not energy. */
  readonly intrinsicGas: bigint;
}

/**
 * The chain as it is shown: blocks beneath under ids of its own, transactions under the hash of what was
 * signed, and how much of it is solid.
 */
export interface TronChain {
  readonly rpc: AnvilRpc;
  /** Undefined above the head. */
  block(at: bigint | "head" | "solid"): Promise<TronBlock | undefined>;
  solidNumber(): Promise<bigint>;
  byId(txId: string): ExecutedTransaction | undefined;
  /**
   * The id that is shown for an EVM transaction; its own hash if it was not broadcast here.
   * Without `0x`.
   */
  idOf(hash: Hex): string;
  add(executed: ExecutedTransaction): void;
  /** Blocks that lie on top of a solid one. */
  setLag(blocks: bigint): void;
  /** Nothing more becomes solid until it is released. */
  holdSolid(): Promise<void>;
  releaseSolid(): void;
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
  let held: bigint | undefined;

  const headNumber = async (): Promise<bigint> => BigInt(String(await rpc("eth_blockNumber")));
  const solidNumber = async (): Promise<bigint> => {
    const head = await headNumber();
    const solid = head > lag ? head - lag : 0n;
    return held !== undefined && held < solid ? held : solid;
  };

  return {
    rpc,
    solidNumber,
    block: async (at) => {
      const number = at === "solid" ? await solidNumber() : at;
      const tag = number === "head" ? "latest" : quantity(number);
      const raw = (await rpc("eth_getBlockByNumber", [tag, false])) as RawBlock | null;
      return raw === null ? undefined : shown(raw);
    },
    byId: (txId) => byId.get(txId),
    idOf: (hash) => ids.get(hash) ?? bare(hash),
    add: (executed) => {
      byId.set(executed.signed.txID, executed);
      ids.set(executed.hash, executed.signed.txID);
    },
    setLag: (blocks) => void (lag = blocks),
    holdSolid: async () => {
      held = await solidNumber();
    },
    releaseSolid: () => void (held = undefined),
  };
}

function shown(raw: RawBlock): TronBlock {
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
