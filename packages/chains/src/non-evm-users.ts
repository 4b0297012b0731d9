import type { Hex, OrderId } from "@causeway/domain";
import type { NonEvmOptions } from "./non-evm-options.ts";

/**
 * The user's side of a non-EVM chain: balances, and what wallets sign. Addresses and currencies in canonical
 * bytes.
 */
export interface NonEvmUsers {
  /** Base units; 0 for an account that does not exist. @throws RpcFault */
  balance(user: Hex, currency: Hex): Promise<bigint>;
  /** Absent where the chain's steps do not need it (Hyperliquid). @throws RpcFault */
  deposit?(payment: UserDeposit): Promise<UserDepositStep>;
  /**
   * Hyperliquid only: a currency's token as its actions name it; undefined: not listed.
   * @throws RpcFault
   */
  token?(currency: Hex): Promise<{ readonly name: string; readonly tokenId: Hex } | undefined>;
}

/** The user's side of a chain, until it is closed. */
export interface OpenNonEvmUsers extends NonEvmUsers {
  close(): Promise<void>;
}

/** A user's payment into the depository that names its order. */
export interface UserDeposit {
  readonly user: Hex;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly orderId: OrderId;
  /**
   * The public key of the user's address, if the client passed it: some Bitcoin addresses do not reveal it.
   */
  readonly publicKey?: string | undefined;
}

export interface UserDepositStep {
  /** The content of the step, as clients read it. */
  readonly data: SolanaDepositData | BitcoinDepositData;
  /** Base units of the native token that it costs the user in addition to the deposit; may be an estimate. */
  readonly fee: bigint;
}

/** In the format of wallets: keys in base58, data in bare hex. */
export interface SolanaDepositData {
  instructions: {
    programId: string;
    keys: { pubkey: string; isSigner: boolean; isWritable: boolean }[];
    data: string;
  }[];
  /** Base58. */
  addressLookupTableAddresses: string[];
}

export interface BitcoinDepositData {
  /**
   * Partially signed transaction, bare hex; absent: insufficient balance, or the client did not pass the
   * public key.
   */
  psbt?: string;
  /** What a wallet without PSBT sends: base units, the order id as text and as hex bytes. */
  payment: { address: string; amount: string; opReturn: string; opReturnHex: Hex };
}

export type UsersOptions = Pick<NonEvmOptions, "chain" | "attestation" | "now">;

/** Undefined if the chain's settings do not suffice: nothing is quoted from it. */
export type ConnectUsers = (
  options: UsersOptions,
) => OpenNonEvmUsers | undefined | Promise<OpenNonEvmUsers | undefined>;
