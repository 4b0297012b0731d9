import type { Hex, OrderId } from "@causeway/domain";

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

export type UserDepositStep =
  | {
      readonly kind: "svm";
      readonly instructions: readonly SolanaStepInstruction[];
      /** Base58. */
      readonly addressLookupTableAddresses: readonly string[];
      /** Lamports that it costs the user in addition to the deposit. */
      readonly fee: bigint;
    }
  | {
      readonly kind: "bvm";
      /**
       * Partially signed transaction, bare hex; undefined: insufficient balance, or the client did not pass
       * the public key.
       */
      readonly psbt: string | undefined;
      /**
       * Satoshis that it costs the user in addition to the deposit; an estimate if there is no transaction.
       */
      readonly fee: bigint;
    };

/** In the format of wallets: keys in base58, data in bare hex. */
export interface SolanaStepInstruction {
  readonly programId: string;
  readonly keys: readonly {
    readonly pubkey: string;
    readonly isSigner: boolean;
    readonly isWritable: boolean;
  }[];
  readonly data: string;
}
