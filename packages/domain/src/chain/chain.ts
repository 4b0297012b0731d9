import type { Address } from "../ids/hex.ts";
import type { ChainLiquidity } from "./chain-liquidity.ts";
import type { NonEvmVmType } from "./family.ts";

/** How expensive a currency is to convert: a pair is charged by the more expensive of its two classes. */
export type CurrencyClass = "stable" | "major" | "minor";

/** A currency that is configured on one chain. */
export interface Currency {
  readonly chainId: number;
  /** Zero address for the native currency of an EVM chain; elsewhere the family's canonical bytes. */
  readonly address: Address;
  /** Same value for the same asset on every chain, e.g. `usdc`, `eth`; the `id` of the API. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly class: CurrencyClass;
  /** The asset's key at price sources, e.g. a CoinGecko id. */
  readonly priceId: string;
  /** The solver holds this currency: deposits and fills can use it. Other currencies are swapped. */
  readonly supportsBridging: boolean;
  readonly supportsPermit: boolean;
  /** The token reverts when a non-zero allowance is changed to another non-zero one. */
  readonly resetsApproval: boolean;
  readonly logoUri: string | undefined;
  readonly verified: boolean;
  /** Maximum of one fill in this currency, base units. Undefined: only the inventory limits it. */
  readonly maxFillAmount: bigint | undefined;
}

/** Blocks that a deposit below `belowUsd` needs (1 = its own block). The last tier has no bound. */
export interface ConfirmationTier {
  /** USD with 18 decimals. Undefined: any value. */
  readonly belowUsd: bigint | undefined;
  readonly confirmations: number;
}

/** Contracts of the service on one chain. */
export interface ChainContracts {
  readonly depository: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
  readonly serviceReceiver: Address;
  readonly multicall3: Address;
  /** Uniswap's Permit2. Absent: signatures for it are not accepted on this chain. */
  readonly permit2?: Address;
  /** Creates deposit addresses. Absent: this chain has none. */
  readonly depositAddressFactory?: Address;
  /** Contracts that the service used here before: its accounts may still have roles in them. */
  readonly formerContracts?: readonly Address[];
  /** Former depositories whose deposits still count, because oracles attest them too. */
  readonly formerDepositories?: readonly Address[];
}

/** What every configured chain has, regardless of its family: names, currencies and fees. */
export interface ChainProfile {
  readonly id: number;
  /** Name used in order data and attestations, e.g. `base`. */
  readonly name: string;
  readonly displayName: string;
  readonly vmType: "evm" | NonEvmVmType;
  /** URL that the service itself reads from. May contain credentials: never shown or logged. */
  readonly rpcUrl: string;
  /** All endpoints that the service reads from, `rpcUrl` first. Absent: only `rpcUrl`. */
  readonly rpcUrls?: readonly string[];
  /** URL shown in `GET /chains`: clients use it to wait for receipts. */
  readonly publicRpcUrl: string;
  readonly publicWsRpcUrl: string | undefined;
  readonly explorerUrl: string;
  readonly explorerName: string;
  readonly iconUrl: string;
  readonly baseChainId: number | undefined;
  readonly tags: readonly string[];
  /** False: no new quotes to this chain. Quotes from it continue: only `disabled` stops deposits. */
  readonly depositEnabled: boolean;
  /** Set during an incident: no new quotes from or to this chain; open requests continue. */
  readonly disabled: boolean;
  /**
   * Maximum input of a quote, in base units of the native currency, while the chain is partially disabled; 0
   * = no limit.
   */
  readonly partialDisableLimit: bigint;
  readonly surgeEnabled: boolean;
  readonly native: Currency;
  /** Currencies other than the native one. */
  readonly tokens: readonly Currency[];
  /** Nominal seconds between blocks, for estimates before the first measurement and for stall detection. */
  readonly blockTimeSeconds: number;
  readonly fees: ProfileFees;
  readonly confirmationTiers: readonly ConfirmationTier[];
  /**
   * Maximum total value (USD, 18 decimals) of deposits that may be filled with fewer confirmations than the
   * strictest tier requires. It bounds the loss if a block with many small deposits is orphaned; above it,
   * deposits wait for the strictest tier. Undefined: no bound.
   */
  readonly maxUnconfirmedUsd?: bigint | undefined;
  /** Absent: the chain has no contracts of this service. */
  readonly contracts?: ChainContracts;
  /** Absent: nothing is swapped in pools on this chain. */
  readonly liquidity?: ChainLiquidity | undefined;
  /** Makes the user's swap before a deposit (Solana). Absent: no swaps before deposits. */
  readonly swapAggregator?: SwapAggregatorFacts | undefined;
  /**
   * Any address of a wallet may pay (Bitcoin): it spends from whichever of its addresses hold funds. The id
   * in the transaction identifies the order, and refunds go to its `refundTo`. Paying another user's order by
   * its id is a gift to that user.
   */
  readonly paysFromAnyAddress?: true;
  /** Deposits of unknown orders are not refunded automatically. */
  readonly keepsUnattributed?: true;
  /** Transfers carry a nonce, not an order id: the hub tells oracles which order each pays (Hyperliquid). */
  readonly needsNonceMappings?: true;
}

/** A swap aggregator with Jupiter's swap API. */
export interface SwapAggregatorFacts {
  /** Base URL, without `/quote` and `/swap-instructions`. */
  readonly url: string;
  /** Sent as `x-api-key`. Absent: the header is omitted. */
  readonly apiKey?: { reveal(): string } | undefined;
  /** Programs that its swap instructions may call, in the chain's address format. */
  readonly programs: readonly string[];
}

/** Whether tokens that are not configured can be swapped on a chain. */
export function hasSwaps({ liquidity, swapAggregator }: Pick<ChainProfile, "liquidity" | "swapAggregator">) {
  return liquidity !== undefined || swapAggregator !== undefined;
}

/** Fee policy of any chain. */
export interface ProfileFees {
  /** Flat part of the service fee for using this chain as destination, USD with 18 decimals. */
  readonly flatUsd: bigint;
  /** Extra bps charged for deposits / fills on this chain (`depositFee`, `withdrawalFee` of the API). */
  readonly depositBps: number;
  readonly withdrawalBps: number;
  /** Fill gas is priced at (10000 + this) / 10000 of the current estimate. */
  readonly gasMarginBps: number;
}

/** One configured and enabled EVM chain. */
export interface Chain extends ChainProfile {
  readonly vmType: "evm";
  /** How many of `rpcUrls` must agree where a read decides about money. Absent: more than half of them. */
  readonly rpcQuorum?: number;
  readonly wsRpcUrl: string | undefined;
  readonly contracts: ChainContracts;
  /**
   * Depth (1 = the block itself) at which a block is treated as irreversible: until then our own transactions
   * are kept for rebroadcast.
   */
  readonly finalityBlocks: number;
  readonly fees: ChainFees;
}

/** Fee policy of one EVM chain. */
export interface ChainFees extends ProfileFees {
  /** Minimum priority fee in wei, for nodes that report zero. */
  readonly minPriorityFeeWei: bigint;
  /**
   * The chain charges transaction data as gas, as some rollups do. Gas measured on other chains does not
   * apply to it, so the steps of a quote omit `gas`.
   */
  readonly gasCountsData: boolean;
  /** The solver never signs a transaction above this max fee per gas, wei. */
  readonly maxFeePerGasWei: bigint;
}
