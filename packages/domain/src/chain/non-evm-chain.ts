import type { Hex } from "../ids/hex.ts";
import type { ChainProfile } from "./chain.ts";
import type { NonEvmVmType, VmType } from "./family.ts";

/** Networks of Bitcoin; the test networks share most address formats. */
export type BitcoinNetwork = "mainnet" | "testnet" | "testnet4" | "signet" | "regtest";

/**
 * One configured and enabled non-EVM chain. Inside the service its addresses, currencies and transaction ids
 * are the family's canonical bytes in lower-case hex.
 */
export interface NonEvmChain extends ChainProfile {
  readonly vmType: NonEvmVmType;
  readonly family: VmType;
  /** Solana: the depository program; Bitcoin and Hyperliquid: the receiving address. Canonical bytes. */
  readonly depository: Hex;
  /** Solana: the program of deposit addresses. Absent: no deposit addresses. Canonical bytes. */
  readonly depositAddressProgram?: Hex;
  /** Solana: the accounts expected in the depository's roles. Absent: not checked. Canonical bytes. */
  readonly depositoryRoles?: {
    /** Undefined: no one. */
    readonly upgradeAuthority: Hex | undefined;
    /** As `initialize` recorded it. Undefined: no one. */
    readonly owner: Hex | undefined;
    readonly allocator: Hex;
  };
  /**
   * Confirmations that deposits and payments need (Bitcoin). Ignored on chains with their own finality.
   */
  readonly confirmations: number;
  /** Path templates of the explorer's pages, e.g. `/tx/{TX_HASH}`. Absent: the defaults. */
  readonly explorerPaths?: {
    readonly transaction?: string | undefined;
    readonly address?: string | undefined;
    readonly token?: string | undefined;
  };
  /** Facts of Hyperliquid only. */
  readonly exchange?: HyperliquidApiFacts;
  /** Facts of Bitcoin only. */
  readonly bitcoin?: {
    /** The network whose address format its users have; orders always use the mainnet format. */
    readonly network: BitcoinNetwork;
    /** The highest fee rate of a payment, satoshis per virtual byte. Absent: 500. */
    readonly maxSatPerVbyte?: number;
  };
}

/** How to reach Hyperliquid and sign for it. */
export interface HyperliquidApiFacts {
  /**
   * Names in the signing types: `default` as in this project's documents, `hyperliquid` as the real
   * Hyperliquid verifies them.
   */
  readonly profile: "default" | "hyperliquid";
  readonly isTestnet: boolean;
  /** Token id of USDC on the first dex, 16 bytes. */
  readonly usdcTokenId: Hex;
  /** Base URL that clients post signed actions to. */
  readonly publicApiUrl: string;
}
