import type { Address, Hex, Hex32 } from "../ids/hex.ts";

/**
 * The signed agreement between user and solver, `protocol.v2.orderData`. Chain ids are names. Bytes fields
 * hold 20-byte addresses on EVM chains.
 */
export interface Order {
  readonly version: "v1";
  readonly solverChainId: string;
  readonly solver: Address;
  readonly salt: Hex32;
  readonly inputs: readonly OrderInput[];
  readonly output: OrderOutput;
  readonly fees: readonly OrderFee[];
}

export interface OrderInput {
  readonly payment: {
    readonly chainId: string;
    readonly currency: Hex;
    readonly amount: bigint;
    readonly weight: bigint;
  };
  readonly refunds: readonly OrderRefund[];
}

export interface OrderRefund {
  readonly chainId: string;
  readonly recipient: Hex;
  readonly currency: Hex;
  readonly minimumAmount: bigint;
  /** Unix seconds. */
  readonly deadline: number;
  readonly extraData: Hex;
}

export interface OrderOutput {
  readonly chainId: string;
  readonly payments: readonly OrderPayment[];
  readonly calls: readonly Hex[];
  /** Unix seconds. */
  readonly deadline: number;
  readonly extraData: Hex;
}

export interface OrderPayment {
  readonly recipient: Hex;
  readonly currency: Hex;
  readonly minimumAmount: bigint;
  readonly expectedAmount: bigint;
}

export interface OrderFee {
  readonly recipientChainId: string;
  readonly recipient: Hex;
  readonly currencyChainId: string;
  readonly currency: Hex;
  readonly amount: bigint;
}
