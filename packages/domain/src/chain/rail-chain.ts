import type { BitcoinNetwork } from "../address/bitcoin.ts";
import type { Hex } from "../ids/hex.ts";
import type { VmType } from "./attestation-chain.ts";
import type { ChainProfile } from "./chain.ts";
import type { RailVm } from "./rail-vm.ts";

/** Family of the oracle's words, by kind. */
export const RAIL_FAMILIES: Readonly<Record<RailVm, VmType>> = {
  svm: "solana-vm",
  bvm: "bitcoin-vm",
  hypevm: "hyperliquid-vm",
};

/**
 * One configured and enabled chain that the service reaches by a rail. Its addresses, currencies and
 * transaction ids are, inside the service, the family's canonical bytes in lower-case hex.
 */
export interface RailChain extends ChainProfile {
  readonly vmType: RailVm;
  readonly family: VmType;
  /** Solana: the depository program; Bitcoin and the exchange: the address that receives. Canonical bytes. */
  readonly depository: Hex;
  /**
   * Confirmations after which a deposit is believed and a payment done (Bitcoin); where the chain has a
   * finality of its own that counts instead.
   */
  readonly confirmations: number;
  /** Templates of the explorer's pages, e.g. `/tx/{TX_HASH}`; absent: the usual ones. */
  readonly explorerPaths?: {
    readonly transaction?: string | undefined;
    readonly address?: string | undefined;
    readonly token?: string | undefined;
  };
  /** What only the perpetuals exchange has. */
  readonly exchange?: ExchangeFacts;
  /** What only Bitcoin has. */
  readonly bitcoin?: {
    /**
     * Its users spell addresses as this network does; orders spell them as the main network does, whichever
     * it is.
     */
    readonly network: BitcoinNetwork;
  };
}

/** How the perpetuals exchange is spoken to. */
export interface ExchangeFacts {
  /**
   * Names in its own signing types: those of this project's documents, or those that the real exchange
   * verifies.
   */
  readonly profile: "default" | "hyperliquid";
  readonly isTestnet: boolean;
  /** The token that is dollars on the first dex, 16 bytes. */
  readonly usdcTokenId: Hex;
  /** Base URL that clients post signed actions to. */
  readonly publicApiUrl: string;
}
