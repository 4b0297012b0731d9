import type { Address } from "../ids/hex.ts";
import type { BitcoinAttestationFacts } from "./bitcoin-facts.ts";
import type { EvmAttestationFacts, EvmFinality } from "./evm-facts.ts";
import type { FamilyId, VmType } from "./family.ts";
import type { HyperliquidAttestationFacts } from "./hyperliquid-facts.ts";
import type { LighterAttestationFacts } from "./lighter-facts.ts";
import type { SolanaAttestationFacts } from "./solana-facts.ts";
import type { TronAttestationFacts } from "./tron-facts.ts";

/** What an oracle knows only of chains of one family. */
export interface FamilyFacts {
  readonly evm: EvmAttestationFacts;
  readonly solana: SolanaAttestationFacts;
  readonly bitcoin: BitcoinAttestationFacts;
  readonly hyperliquid: HyperliquidAttestationFacts;
  readonly lighter: LighterAttestationFacts;
  readonly tron: TronAttestationFacts;
}

export type FactsOf<F extends FamilyId> = FamilyFacts[F];

/** The oracle's facts about one chain, among them those of its own family. */
export interface AttestationChain extends Partial<Omit<FamilyFacts, "evm">> {
  /** Name used in orders and attestations, e.g. `base`. */
  readonly name: string;
  readonly vmType: VmType;
  /** RPC endpoints, at least one. They may contain credentials: never shown or logged. */
  readonly rpcUrls: readonly string[];
  /** How many endpoints must agree on a fact; 1 with a single endpoint. */
  readonly rpcQuorum: number;
  /**
   * In the family's format (lower case on EVM chains). Undefined: deposits and withdrawals cannot be
   * attested.
   */
  readonly depository: string | undefined;
  readonly additionalDepositories: readonly string[];
  /** Decimal id of the chain on the hub: the EVM chain id, else keccak256 of the name. */
  readonly hubChainId: string;
  readonly evm: EvmAttestationFacts | undefined;
}

/** What is known of a chain if it is of this family. */
export function factsOf<F extends FamilyId>(
  chain: { readonly [Family in FamilyId]?: FactsOf<Family> | undefined },
  id: F,
): FactsOf<F> | undefined {
  return chain[id];
}

/**
 * Seconds by which the clocks of two chains may differ: a rollup whose sequencer catches up writes past
 * timestamps, so that a payment on another chain may seem older than its deposit.
 */
export const CLOCK_SKEW_SECONDS = 60;

/** The hub: the chain on which attested executions take effect. */
export interface AttestationHub {
  /** Name, e.g. `hub`. */
  readonly name: string;
  /** May contain credentials. */
  readonly rpcUrl: string;
  /** All endpoints that the service reads from, `rpcUrl` first. Oracles read from `rpcUrl` alone. */
  readonly rpcUrls?: readonly string[];
  /** How many of `rpcUrls` must agree where a read decides about money. Absent: more than half of them. */
  readonly rpcQuorum?: number;
  readonly chainId: number;
  /** ERC-6909 ledger. */
  readonly hubAddress: Address;
  /** The contract that executions are signed for (`verifyingContract`). */
  readonly oracleAddress: Address;
  readonly oracleMultisigAddress: Address | undefined;
  /**
   * The contract that records the one payload of a withdrawal. Undefined: an expired withdrawal cannot be
   * attested.
   */
  readonly allocatorAddress: Address | undefined;
  /** The hub's nonce mapping contract. Absent: no nonce mappings are signed or read. */
  readonly genericMappingAddress?: Address;
  /** EIP-712 domain of executions. */
  readonly domain: { readonly name: string; readonly version: string };
  /**
   * What the idempotency key of a settled fill or refund consists of: `payment` (order and paying
   * transaction: one payment settles once) or, to join a network that uses it, `deposits` (order and
   * deposits: one payment can then settle several deposits of one order).
   */
  readonly settlementKey: "payment" | "deposits";
  /**
   * Seconds by which a fill may be older than the deposit that it is settled against. At least {@link
   * CLOCK_SKEW_SECONDS}, and exactly that with the key `deposits`.
   */
  readonly fillLeadSeconds: number;
  /**
   * Unix seconds: deposits in blocks from this time on are attested in parts, earlier ones as one execution
   * per transaction. Absent: all as one. Every oracle of the network needs the same value, or a deposit is
   * minted under two keys.
   */
  readonly depositPartsSince?: number;
  readonly finality: EvmFinality;
}
