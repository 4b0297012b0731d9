import type { Address } from "../ids/hex.ts";

/** When a block of an EVM chain counts as irreversible. */
export type EvmFinality =
  /** At or below the block that the node tags `finalized`. */
  | { readonly kind: "tag" }
  /**
   * At least `blocks` blocks are on top of the block (0 = the newest block counts), and the newest block is
   * at least `seconds` younger.
   */
  | { readonly kind: "depth"; readonly blocks: bigint; readonly seconds: bigint };

/**
 * Seconds by which the clocks of two chains may differ. A rollup that is catching up backdates its blocks, so
 * a payment on another chain can look older than its deposit.
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
   * Idempotency key of a settled fill or refund. `payment`: order and paying transaction, so a payment
   * settles once. `deposits`: order and deposits, so a payment can settle several deposits of an order; only
   * to join a network that uses it.
   */
  readonly settlementKey: "payment" | "deposits";
  /**
   * Seconds by which a fill may be older than the deposit that it is settled against. At least {@link
   * CLOCK_SKEW_SECONDS}, and exactly that with the key `deposits`.
   */
  readonly fillLeadSeconds: number;
  /**
   * Unix seconds: deposits in blocks from this time on are attested in parts, earlier ones as one execution
   * per transaction. Absent: always one execution per transaction. Every oracle of the network needs the
   * same value, or a deposit is minted under two keys.
   */
  readonly depositPartsSince?: number;
  readonly finality: EvmFinality;
}
