import type { Address, Hex, Hex32, RequestId } from "@causeway/domain";

/**
 * What wallets have said about their nonces, on chains whose transfers cannot carry an id (the perpetuals
 * exchange). A nonce of a wallet means one thing for ever. Where there is a hub only its word counts, at a
 * final block: what oracles attest is that, and nobody else's.
 */
export interface NonceMappingReads {
  /**
   * Undefined: the wallet has said nothing about that nonce, so far.
   *
   * @throws RpcFault when the hub's node cannot say
   */
  of(chainId: number, wallet: Address, nonce: bigint): Promise<MappedNonce | undefined>;
  /** The same, and as of when. @throws RpcFault */
  read(
    chainId: number,
    wallet: Address,
    nonce: bigint,
  ): Promise<{
    readonly mapped: MappedNonce | undefined;
    /** Unix seconds up to which the hub was read: what is not there by then was not said by then. */
    readonly asOf: bigint;
  }>;
}

export interface MappedNonce {
  /** Id of the order that the transfer pays. */
  readonly id: Hex32;
  /** Who is to count as depositor. */
  readonly depositor: Address;
  /** Unix seconds at which it was said, by the hub's clock. Said too late it counts for nothing. */
  readonly setAt: bigint;
}

/** What a client posts: the words of a quote's `authorize` step, and the wallet's signature of them. */
export interface NonceAuthorization {
  readonly walletChainId: number;
  readonly wallet: Address;
  readonly depositor: Address;
  readonly nonce: bigint;
  readonly id: Hex32;
  readonly signatureChainId: number;
  readonly signature: Hex;
}

/** What a wallet signed. */
export interface SaidNonce {
  readonly chainId: number;
  readonly wallet: Address;
  readonly nonce: bigint;
  readonly id: Hex32;
  readonly depositor: Address;
  readonly signature: Hex;
  readonly signatureChainId: number;
  /** The request that the transfer pays, or pays out; undefined: none of ours. */
  readonly requestId: RequestId | undefined;
}

/**
 * stored: the oracles are to sign it | signed: they have, it is to be brought to the hub | published: the hub
 * has it, for good | contradicted: the hub has something else
 */
export type NonceMappingState = "stored" | "signed" | "published" | "contradicted";

export interface NonceMappingRecord extends SaidNonce {
  /** Of the row. */
  readonly key: string;
  readonly state: NonceMappingState;
  /** What the hub has; defined once it has something for good. */
  readonly mapped: MappedNonce | undefined;
  readonly tries: number;
  readonly createdAtMs: number;
}

/** One that the oracles have signed. */
export interface SignedNonceMapping extends NonceMappingRecord {
  /** As many signatures as the multisig reads, ascending by signer, one after the other. */
  readonly hubSignature: Hex;
}

/** Reads outside any transaction. */
export interface NonceMappingStore {
  find(chainId: number, wallet: Address, nonce: bigint): Promise<NonceMappingRecord | undefined>;
  /** Those that the oracles are to be asked about, longest waiting first. */
  toSign(nowMs: number, limit: number): Promise<NonceMappingRecord[]>;
  /** Those that no transaction carries. */
  toCarry(nowMs: number, limit: number): Promise<SignedNonceMapping[]>;
  /** Those that a transaction carries, and whether its nonce is used up for good. */
  carried(limit: number): Promise<{ readonly record: SignedNonceMapping; readonly isOver: boolean }[]>;
  waiting(): Promise<readonly { state: string; count: number; oldestMs: number }[]>;
}

/** What is known of an authorization before it is accepted. */
export interface AuthorizationStanding {
  /** `same`: it was said before; `taken`: something else was said of that nonce; undefined: nothing was. */
  readonly said: "same" | "taken" | undefined;
  /** The wallet's transfer with this nonce has arrived already, and waits for it. */
  readonly isTransferSeen: boolean;
  /** Authorizations of this wallet since the given moment whose requests have no deposit. */
  readonly openOfWallet: number;
  /** Authorizations of all wallets that are not on the hub yet. */
  readonly waiting: number;
}

/** The same inside one transaction. */
export interface NonceMappingWrites {
  /** Until the end of the transaction no other authorization of this wallet is counted or stored. */
  lockWallet(wallet: Address): Promise<void>;
  standing(said: SaidNonce, sinceMs: number): Promise<AuthorizationStanding>;
  /** `same`: it was said before; `taken`: something else was said of that nonce, which stays. */
  say(said: SaidNonce, atMs: number): Promise<"new" | "same" | "taken">;
  signed(key: string, hubSignature: Hex, atMs: number): Promise<void>;
  postpone(key: string, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /**
   * False when another transaction carries one of them: nothing is carried then, and the whole transaction
   * must be undone.
   */
  carry(keys: readonly string[], transactionId: string): Promise<boolean>;
  /** The hub has it, or something else, for good. */
  settle(
    key: string,
    state: "published" | "contradicted",
    mapped: MappedNonce | undefined,
    atMs: number,
  ): Promise<void>;
  /** The transaction did not bring it there: it is to be signed anew. */
  release(key: string, reason: string, nextTryMs: number, atMs: number): Promise<void>;
}
