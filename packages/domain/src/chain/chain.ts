import type { Address } from "../ids/hex.ts";
import type { ChainLiquidity } from "./chain-liquidity.ts";
import type { RailVm } from "./rail-vm.ts";

/** How much of a fee a currency costs to convert: pairs are priced by the dearer of the two classes. */
export type CurrencyClass = "stable" | "major" | "minor";

/** A currency that this instance knows on one chain. */
export interface Currency {
  readonly chainId: number;
  /** Zero address for the native currency of an EVM chain; elsewhere the family's canonical bytes. */
  readonly address: Address;
  /** Same value for the same asset on every chain, e.g. `usdc`, `eth`: the `id` of the wire. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly class: CurrencyClass;
  /** Key under which price sources know the asset, e.g. a CoinGecko id. */
  readonly priceId: string;
  /**
   * The solver holds it, so deposits and fills may be in it. Any other is exchanged for one that it holds.
   */
  readonly supportsBridging: boolean;
  readonly supportsPermit: boolean;
  /** The token reverts when a non-zero allowance is changed to another non-zero one. */
  readonly resetsApproval: boolean;
  readonly logoUri: string | undefined;
  readonly verified: boolean;
  /**
   * Largest amount of one fill in this currency, smallest units; undefined = only the inventory limits it.
   */
  readonly maxFillAmount: bigint | undefined;
}

/**
 * Blocks that a deposit needs (1 = its own block) when its value is below `belowUsd`; the last tier has no
 * bound.
 */
export interface ConfirmationTier {
  /** USD with 18 decimals; undefined = any value. */
  readonly belowUsd: bigint | undefined;
  readonly confirmations: number;
}

/** Contracts of the service on one chain, all addresses. */
export interface ChainContracts {
  readonly depository: Address;
  readonly router: Address;
  readonly approvalProxy: Address;
  readonly serviceReceiver: Address;
  readonly multicall3: Address;
  /** Uniswap's Permit2; undefined: signatures for it are not taken on this chain. */
  readonly permit2?: Address;
  /** Makes deposit addresses; undefined: this chain has none. */
  readonly depositAddressFactory?: Address;
  /**
   * The service's own contracts that it has used here before: accounts of ours may still have roles in them.
   */
  readonly formerContracts?: readonly Address[];
  /** Former depositories whose deposits still count, because oracles attest them too. */
  readonly formerDepositories?: readonly Address[];
}

/**
 * What every configured chain has, whatever its family: what it is called, what is known on it, and what it
 * costs to use it.
 */
export interface ChainProfile {
  readonly id: number;
  /** Name used in order data and attestations, e.g. `base`. */
  readonly name: string;
  readonly displayName: string;
  readonly vmType: "evm" | RailVm;
  /** URL the service itself reads from; may carry credentials, never shown or logged. */
  readonly rpcUrl: string;
  /** URL shown to clients in `GET /chains`; they wait for receipts on it. */
  readonly publicRpcUrl: string;
  readonly publicWsRpcUrl: string | undefined;
  readonly explorerUrl: string;
  readonly explorerName: string;
  readonly iconUrl: string;
  readonly baseChainId: number | undefined;
  readonly tags: readonly string[];
  /** False: no new quotes to this chain. Quotes from it go on: only `disabled` stops deposits. */
  readonly depositEnabled: boolean;
  /** Set during an incident: no new quotes from or to this chain; requests under way go on. */
  readonly disabled: boolean;
  /** Cap of a quote's input in smallest units of the native currency while partially disabled; 0 = no cap. */
  readonly partialDisableLimit: bigint;
  readonly surgeEnabled: boolean;
  readonly native: Currency;
  /** Currencies beside the native one. */
  readonly tokens: readonly Currency[];
  /** Nominal seconds between blocks, for estimates before anything was measured, and for stall detection. */
  readonly blockTimeSeconds: number;
  readonly fees: ProfileFees;
}

/** What using any chain costs. */
export interface ProfileFees {
  /** Flat part of the service fee for using this chain as destination, USD with 18 decimals. */
  readonly flatUsd: bigint;
  /**
   * Extra bps charged when depositing on / filling on this chain (`depositFee`, `withdrawalFee` of the wire).
   */
  readonly depositBps: number;
  readonly withdrawalBps: number;
  /** Fill gas is priced at (10000 + this) / 10000 of the live estimate. */
  readonly gasMarginBps: number;
}

/** One configured and enabled EVM chain. Everything a use case may know of it. */
export interface Chain extends ChainProfile {
  readonly vmType: "evm";
  readonly wsRpcUrl: string | undefined;
  readonly contracts: ChainContracts;
  readonly confirmationTiers: readonly ConfirmationTier[];
  /**
   * USD (18 decimals) of deposits in blocks younger than the strictest tier's confirmations that may be
   * filled by the laxer tiers: one vanished block must not cost more than this, however small the deposits in
   * it are. Above it deposits wait for the strictest tier. Undefined = no bound.
   */
  readonly maxUnconfirmedUsd: bigint | undefined;
  /**
   * Depth (1 = the block itself) at which a block is treated as irreversible: until then our own transactions
   * are kept for re-sending.
   */
  readonly finalityBlocks: number;
  readonly fees: ChainFees;
  /** Undefined: nothing is swapped on this chain. */
  readonly liquidity?: ChainLiquidity | undefined;
}

/** Fee policy of one EVM chain. */
export interface ChainFees extends ProfileFees {
  /** Floor of the priority fee in wei, for nodes that report zero. */
  readonly minPriorityFeeWei: bigint;
  /**
   * The chain counts the price of a transaction's data as gas (some rollups do): gas units measured elsewhere
   * say nothing there, and steps name none.
   */
  readonly gasCountsData: boolean;
  /** The solver never signs a transaction above this max fee per gas, wei. */
  readonly maxFeePerGasWei: bigint;
}
