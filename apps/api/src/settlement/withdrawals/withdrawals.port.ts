import type { Address, EvmCallRequest, Hex, Hex32, TxHash } from "@causeway/domain";
import type { SubmitWithdrawRequest } from "@causeway/attest";

export type WithdrawalOutcome = "executed" | "expired";

/**
 * The terms of a withdrawal. Together with its nonce, they determine a hub address, which holds the amount in
 * the meantime.
 */
export interface WithdrawalOrder {
  readonly chainName: string;
  readonly depository: Address;
  /** Zero address = native token. */
  readonly currency: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly recipient: Address;
  readonly nonce: Hex32;
}

export interface WithdrawalRecord extends WithdrawalOrder {
  readonly address: Address;
  /** The one payload that may be signed. Undefined before it is created. */
  readonly payload: Hex | undefined;
  readonly outcome: WithdrawalOutcome | undefined;
}

/** Stored withdrawals. Each method is one commit. */
export interface WithdrawalStore {
  find(nonce: Hex32): Promise<WithdrawalRecord | undefined>;
  /** Stores the order unless its nonce has a record. Returns the record, which may be of another order. */
  open(address: Address, order: WithdrawalOrder, atMs: number): Promise<WithdrawalRecord>;
  /** Stores the payload unless there is one; returns the stored one. */
  choosePayload(address: Address, payload: Hex, atMs: number): Promise<Hex>;
  close(address: Address, outcome: WithdrawalOutcome, atMs: number): Promise<void>;
}

/** Whether the contracts accept the allocator's account. */
export interface AllocatorAccess {
  /** The account. */
  readonly account: Address;
  /** It may record payloads in the hub's Allocator. */
  readonly mayRecord: boolean;
  /** The signer that the depository accepts. */
  readonly depositoryAllocator: Address;
}

/**
 * Actions of the allocator's account on the hub and on the paying chain.
 * @throws NodeUnavailable, RpcFault
 */
export interface Payouts {
  /** Reads at the newest blocks whether the contracts accept the allocator's account. */
  readAccess(): Promise<AllocatorAccess>;
  /**
   * The payload that the hub's Allocator recorded for the address, at the newest or the newest final block.
   */
  recordedWithdrawal(address: Address, blockTag: "latest" | "final"): Promise<Hex32 | undefined>;
  /** Records the payload on the hub and waits until that is mined. @throws PayoutReverted */
  record(
    address: Address,
    withdrawalId: Hex32,
    request: SubmitWithdrawRequest,
    oracleSignature: Hex,
  ): Promise<TxHash>;
  /** The allocator's signature of a payload for its depository. */
  sign(request: EvmCallRequest): Promise<Hex>;
  /** Whether the depository has executed the payload, at the newest block. */
  isExecuted(withdrawalId: Hex32): Promise<boolean>;
  /** Unix seconds of the chain's newest block. */
  chainTime(): Promise<bigint>;
  /** Has the depository execute the payload and waits until that is mined. @throws PayoutReverted */
  execute(request: EvmCallRequest, signature: Hex): Promise<TxHash>;
}

/** The call reverted, or would revert according to a simulation. */
export class PayoutReverted extends Error {
  constructor(what: string, reason: string) {
    super(`${what} reverts: ${reason}`);
    this.name = "PayoutReverted";
  }
}

/**
 * A node returned no usable response: nothing is known, and a retry may help. The message contains no URL and
 * no text of a library.
 */
export class NodeUnavailable extends Error {
  constructor(node: string, reason: string) {
    super(`the node of ${node} returned no usable response: ${reason}`);
    this.name = "NodeUnavailable";
  }
}
