import type { Hex, OrderId } from "@causeway/domain";
import type { ProposedSwap } from "@causeway/families/solana";
import type { NonEvmOptions } from "./non-evm-options.ts";

export type { ProposedSwap } from "@causeway/families/solana";

/**
 * The user's side of a non-EVM chain: balances, and what wallets sign. Addresses and currencies in canonical
 * bytes.
 */
export interface NonEvmUsers {
  /** Base units; 0 for an account that does not exist. @throws RpcFault */
  balance(user: Hex, currency: Hex): Promise<bigint>;
  /** Absent where the chain's steps do not need it (Hyperliquid). @throws RpcFault; SwapRefused */
  deposit?(payment: UserDeposit): Promise<UserDepositStep>;
  /**
   * Solana only: a token that is not configured; undefined: there is no such token.
   * @throws RpcFault
   */
  mint?(currency: Hex): Promise<{ readonly decimals: number } | undefined>;
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
  /** The order's deposit address. Absent: the payment goes to the depository and names the order. */
  readonly to?: Hex | undefined;
  /**
   * The public key of the user's address, if the client passed it: some Bitcoin addresses do not reveal it.
   */
  readonly publicKey?: string | undefined;
  /** The swap whose output is deposited (Solana). Absent: the user deposits the currency itself. */
  readonly swap?: OriginSwap | undefined;
}

/** A swap in the transaction of the user, before the deposit. */
export interface OriginSwap {
  /** What the user pays with. */
  readonly currency: Hex;
  /** Maximum amount that the swap may take, in base units. */
  readonly maxInput: bigint;
  /** Programs that may make the swap, in base58. */
  readonly programs: readonly string[];
  /** From an aggregator, not trusted. */
  readonly proposed: ProposedSwap;
}

/** A swap that must not be given to the user to sign, or that the user cannot sign. */
export class SwapRefused extends Error {
  override readonly name = "SwapRefused";
  /** What is wrong: the aggregator's proposal, the size of the transaction, or the currency itself. */
  readonly subject: "aggregator" | "size" | "currency";

  constructor(subject: SwapRefused["subject"], reason: string) {
    super(reason);
    this.subject = subject;
  }
}

export interface UserDepositStep {
  /** The content of the step, in the API's format. */
  readonly data: SolanaDepositData | BitcoinDepositData;
  /** Fee in base units of the native token, in addition to the deposit; may be an estimate. */
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
  /**
   * The payment for a wallet without PSBT support: base units, and the order id as text and as hex bytes. A
   * payment to the order's deposit address carries no id.
   */
  payment: { address: string; amount: string; opReturn?: string; opReturnHex?: Hex };
}

export type UsersOptions = Pick<NonEvmOptions, "chain" | "attestation" | "now">;

/** Undefined if the chain's settings are insufficient; then it cannot be an origin. */
export type ConnectUsers = (
  options: UsersOptions,
) => OpenNonEvmUsers | undefined | Promise<OpenNonEvmUsers | undefined>;
