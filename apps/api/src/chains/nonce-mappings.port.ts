import type { Address, Hex, Hex32, RequestId } from "@causeway/domain";
import type { Slot } from "../db/records.port.ts";

/**
 * Which order each wallet nonce pays, on chains whose transfers cannot carry an id (Hyperliquid). A mapping
 * never changes. With a hub, only its mapping at a final block counts, because that is what oracles attest.
 */
export interface NonceMappingReads {
  /**
   * Undefined: the nonce is not mapped yet.
   * @throws RpcFault when the hub's node does not answer
   */
  find(chainId: number, wallet: Address, nonce: bigint): Promise<MappedNonce | undefined>;
  /** Like {@link find}, with the time of the read. @throws RpcFault */
  read(
    chainId: number,
    wallet: Address,
    nonce: bigint,
  ): Promise<{
    readonly mapped: MappedNonce | undefined;
    /** Time of the hub's block, Unix seconds: mappings that are missing did not exist at that time. */
    readonly asOf: bigint;
  }>;
}

export interface MappedNonce {
  /** Id of the order that the transfer pays. */
  readonly id: Hex32;
  /** The account that counts as depositor. */
  readonly depositor: Address;
  /** Unix seconds by the hub's clock when it was set. A late mapping is void. */
  readonly setAt: bigint;
}

/** The body of a client's post: the message of a quote's `authorize` step and the wallet's signature. */
export interface NonceAuthorization {
  readonly walletChainId: number;
  readonly wallet: Address;
  readonly depositor: Address;
  readonly nonce: bigint;
  readonly id: Hex32;
  readonly signatureChainId: number;
  readonly signature: Hex;
}

export interface NewNonceMapping {
  readonly chainId: number;
  readonly wallet: Address;
  readonly nonce: bigint;
  readonly id: Hex32;
  readonly depositor: Address;
  readonly signature: Hex;
  readonly signatureChainId: number;
  /** The request that the transfer pays. Undefined: no request of this instance. */
  readonly requestId: RequestId | undefined;
}

/**
 * `stored`: waits for oracle signatures. `signed`: to be published on the hub. `published`: final on the hub.
 * `contradicted`: the hub has a different mapping.
 */
export type NonceMappingState = "stored" | "signed" | "published" | "contradicted";

export interface NonceMappingRecord extends NewNonceMapping {
  /** Key of the row. */
  readonly key: string;
  readonly state: NonceMappingState;
  /** The hub's mapping, once it is final. */
  readonly mapped: MappedNonce | undefined;
  readonly tries: number;
  readonly createdAtMs: number;
}

/** A mapping that the oracles have signed. */
export interface SignedNonceMapping extends NonceMappingRecord {
  /** The signatures that the multisig requires, concatenated in ascending order of signer. */
  readonly hubSignature: Hex;
}

/** A signed mapping, and the slot of the transaction that contains it. */
export interface SubmittedNonceMapping {
  readonly record: SignedNonceMapping;
  readonly slot: Pick<Slot, "id" | "chainId" | "sender" | "nonce" | "state">;
}

/** Reads outside a transaction. */
export interface NonceMappingStore {
  find(chainId: number, wallet: Address, nonce: bigint): Promise<NonceMappingRecord | undefined>;
  /** Mappings that need oracle signatures, longest waiting first. */
  findUnsigned(nowMs: number, limit: number): Promise<NonceMappingRecord[]>;
  /** Mappings without a transaction that publishes them. */
  findUnsubmitted(nowMs: number, limit: number): Promise<SignedNonceMapping[]>;
  /** Mappings with a transaction. */
  findSubmitted(limit: number): Promise<SubmittedNonceMapping[]>;
  waiting(): Promise<readonly { state: string; count: number; oldestMs: number }[]>;
}

/** What is known about an authorization before it is accepted. */
export interface AuthorizationStanding {
  /**
   * `same`: already mapped like this; `taken`: the nonce is mapped to something else; undefined: not mapped.
   */
  readonly existing: "same" | "taken" | undefined;
  /** The wallet's transfer with this nonce has already arrived and waits for it. */
  readonly isTransferSeen: boolean;
  /** Authorizations of this wallet since the given time whose requests have no deposit. */
  readonly openOfWallet: number;
  /** Authorizations of all wallets that are not on the hub yet. */
  readonly waiting: number;
}

/** Writes inside one transaction. */
export interface NonceMappingWrites {
  /** Until the transaction ends, no other authorization of this wallet is counted or stored. */
  lockWallet(wallet: Address): Promise<void>;
  standing(mapping: NewNonceMapping, sinceMs: number): Promise<AuthorizationStanding>;
  /** `same`: already mapped like this; `taken`: the nonce keeps a different mapping. */
  store(mapping: NewNonceMapping, atMs: number): Promise<"new" | "same" | "taken">;
  storeSignature(key: string, hubSignature: Hex, atMs: number): Promise<void>;
  postpone(key: string, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /** Locks signed mappings in a fixed order. False if one of them is already in a transaction. */
  lockUnsubmitted(keys: readonly string[]): Promise<boolean>;
  /** Assigns the locked mappings to the transaction with this slot. */
  markSubmitted(keys: readonly string[], slotId: string): Promise<void>;
  /** Records the hub's final mapping, which may be different. */
  settle(
    key: string,
    state: "published" | "contradicted",
    mapped: MappedNonce | undefined,
    atMs: number,
  ): Promise<void>;
  /**
   * Releases a mapping that its transaction did not publish: it must be signed again. False if the
   * transaction no longer contains it.
   */
  release(
    mapping: { readonly key: string; readonly slotId: string },
    reason: string,
    nextTryMs: number,
    atMs: number,
  ): Promise<boolean>;
}
