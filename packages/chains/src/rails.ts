import type { AttestationChain, Hex32, RailChain, VmType } from "@causeway/domain";
import type { NonceMappings } from "./nonce-mappings.ts";
import type { ChainRail } from "./rail.ts";

/** What a rail is made of. */
export interface RailOptions {
  readonly chain: RailChain;
  /** The same chain as oracles know it: what it says of deposits must be what they will attest. */
  readonly attestation: AttestationChain;
  /** Of the solver on this chain: an ed25519 seed on Solana, a secp256k1 key elsewhere. Never shown or logged. */
  readonly privateKey: Hex32;
  /** What the hub says of nonces, where a transfer cannot name its order. */
  readonly nonceMappings?: NonceMappings | undefined;
  /** ms since epoch. */
  now(): number;
  /** Told of every fault that nobody waits for. */
  onFault(error: unknown): void;
}

export type CreateRail = (options: RailOptions) => ChainRail | Promise<ChainRail>;

/** How each family's rail is loaded: its libraries are read when a chain of it is configured, and not before. */
const RAILS: Readonly<Partial<Record<VmType, () => Promise<CreateRail>>>> = {
  "bitcoin-vm": async () => (await import("./bitcoin/rail.ts")).createBitcoinRail,
  "hyperliquid-vm": async () => (await import("./hyperliquid/rail.ts")).createExchangeRail,
  "solana-vm": async () => (await import("./solana/rail.ts")).createSolanaRail,
};

/** @throws RangeError for a family that this build has no rail for */
export async function createRail(options: RailOptions): Promise<ChainRail> {
  const { family, name } = options.chain;
  const load = RAILS[family];
  if (load === undefined) throw new RangeError(`chain ${name}: this build has no rail for ${family}`);
  const create = await load();
  return await create(options);
}
