import type { Hex, OrderId } from "@causeway/domain";

/**
 * The user's side of a chain that is reached by a rail: what he holds, and what his wallet is given to sign.
 * Addresses and currencies in canonical bytes.
 */
export interface RailUsers {
  /** Smallest units; 0 for an account that does not exist. @throws RpcFault */
  balance(user: Hex, currency: Hex): Promise<bigint>;
  /** Absent where the chain's steps need nothing of it (the perpetuals exchange). @throws RpcFault */
  deposit?(payment: UserDeposit): Promise<UserDepositStep>;
  /**
   * Of the perpetuals exchange: a currency's token as its actions write it; undefined: it lists none.
   *
   * @throws RpcFault
   */
  token?(currency: Hex): Promise<{ readonly name: string; readonly tokenId: Hex } | undefined>;
}

/** A payment of the user's into the depository that names its order. */
export interface UserDeposit {
  readonly user: Hex;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly orderId: OrderId;
  /**
   * The key behind the user's address, where the client gave it: some addresses of Bitcoin do not tell it.
   */
  readonly publicKey?: string | undefined;
}

export type UserDepositStep =
  | {
      readonly kind: "svm";
      readonly instructions: readonly SolanaStepInstruction[];
      /** Base58. */
      readonly addressLookupTableAddresses: readonly string[];
      /** Lamports that it costs the user beside what he deposits. */
      readonly fee: bigint;
    }
  | {
      readonly kind: "bvm";
      /**
       * Partially signed transaction, bare hex; undefined: the user holds too little for it now, or the
       * client did not give what it takes.
       */
      readonly psbt: string | undefined;
      /**
       * Satoshis that it costs the user beside what he deposits; of a transaction that is not made, an
       * estimate.
       */
      readonly fee: bigint;
    };

/** In the words of wallets: keys in base58, data in bare hex. */
export interface SolanaStepInstruction {
  readonly programId: string;
  readonly keys: readonly {
    readonly pubkey: string;
    readonly isSigner: boolean;
    readonly isWritable: boolean;
  }[];
  readonly data: string;
}
