import type { BitcoinNetwork, HyperliquidNetwork, HyperliquidProfileName, FamilyId } from "@causeway/domain";
import type { AddressCodec } from "./address-codec.ts";

/** The entry in the chain file, and the list of problems. */
export interface EntrySource {
  readonly entry: WrittenChain;
  readonly rpcUrls: readonly string[];
  /** The entry's place in its file. */
  readonly place: string;
  /** Problems are added here. */
  readonly problems: string[];
}

/** The fields of an entry that families read, after schema validation. */
export interface WrittenChain {
  readonly depository?: string | undefined;
  readonly additionalDepositories: readonly string[];
  readonly chainId?: number | undefined;
  readonly hubChainId?: string | undefined;
  /** Absent: the family's default. */
  readonly blockTimeSeconds?: number | undefined;
  readonly contracts?:
    | { readonly router?: string | undefined; readonly approvalProxy?: string | undefined }
    | undefined;
  readonly additionalData: {
    readonly finalizationBlocks?: number | undefined;
    readonly finalizationTime?: number | undefined;
    readonly finalityReason?: string | undefined;
    readonly isZksyncStack: boolean;
    readonly fillContracts?: readonly string[] | undefined;
    readonly rpcApiKey?: string | undefined;
    readonly esploraCompatibleApiUrl?: string | undefined;
    readonly bitcoinNetwork: BitcoinNetwork;
    readonly signingProfile: HyperliquidProfileName;
    readonly exchangeNetwork: HyperliquidNetwork;
    readonly usdcTokenId?: string | undefined;
    readonly weightPerMinute?: number | undefined;
    readonly explorerApiUrl?: string | undefined;
    readonly exchangeChainId?: number | undefined;
    readonly exchangeContract?: string | undefined;
    readonly genesisHash?: string | undefined;
  };
}

/**
 * What every process knows of a family, regardless of the configured chains: its address format and its part
 * of the chain file. Imports no library of the family; `files` loads the rest.
 */
export interface FamilyEntry<F extends FamilyId, Facts> {
  readonly id: F;
  readonly codec: AddressCodec;
  readonly files: FamilyFiles;
  /**
   * Seconds by which a block's timestamp may be off. Absent: CLOCK_SKEW_SECONDS.
   */
  readonly headerSkewSeconds?: number;
  /** The facts that only chains of this family have. */
  facts(source: EntrySource): Facts;
  /** A fact that no two chains of the family share, and its name in messages; undefined: not configured. */
  network(facts: Facts): readonly [name: string, value: string | number | bigint] | undefined;
  /** Whether a depository identifies its chain. False if several chains can have the same address. */
  isIdentifiedByDepository(all: readonly Facts[]): boolean;
  /** Parses a depository's address. Absent: it must be in the family's canonical format. */
  readonly depository?: (text: string, place: string, problems: string[]) => string;
  /** Absent: derived from the chain's name. */
  hubChainId?(facts: Facts): string;
  /** Additional rules for the entry of a chain on which the API makes payments. Absent: no such chains. */
  readonly paid?: {
    problems(entry: PaidEntry): readonly EntryProblem[];
    /** The entry has the field `exchange`. */
    readonly hasExchange?: true;
    /** The entry may have the field `depositAddressProgram`. */
    readonly hasAddressProgram?: true;
    /** The entry may have the field `swapAggregator`. */
    readonly hasSwapAggregator?: true;
    /** Absent: every address is an account. */
    readonly isAccount?: (text: string) => boolean;
  };
}

/** The files of a family that need its libraries. Each family has all of them, under these names. */
export interface FamilyFiles {
  /** Parses and validates the responses of nodes. */
  answers(): Promise<object>;
  /** Which deposits a transaction made. */
  deposits(): Promise<object>;
  /** What a transaction paid. */
  payments(): Promise<object>;
  /** What a withdrawal payload pays, and what became of it. */
  withdrawals(): Promise<{ readWithdrawal(...args: never): unknown }>;
  /** When a block counts as final. */
  finality(): Promise<object>;
  /** The judge of the family, as the interface `Family`. */
  family(): Promise<object>;
}

/** The fields of the entry of a payable chain that differ between families. */
export interface PaidEntry {
  readonly tokens: readonly unknown[];
  readonly confirmations: number;
  readonly exchange?: unknown;
  readonly additionalData: {
    readonly finalizationBlocks?: number | undefined;
    readonly esploraCompatibleApiUrl?: string | undefined;
  };
}

/** A problem of an entry, with the path of its field. */
export interface EntryProblem {
  readonly path: (string | number)[];
  readonly message: string;
}
