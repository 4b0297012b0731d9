import type { Address, EvmCallRequest, Hex, Hex32, TxHash } from "@causeway/domain";
import type { SubmitWithdrawRequest } from "@causeway/attest";

export type WithdrawalOutcome = "executed" | "expired";

/**
 * What is withdrawn to whom. With its nonce it has an address on the hub, which holds the money meanwhile.
 */
export interface WithdrawalOrder {
  readonly chainName: string;
  readonly depository: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** Smallest units. */
  readonly amount: bigint;
  readonly recipient: Address;
  readonly nonce: Hex32;
}

export interface WithdrawalRecord extends WithdrawalOrder {
  readonly address: Address;
  /** The one payload that may be signed; undefined before it was made. */
  readonly payload: Hex | undefined;
  readonly outcome: WithdrawalOutcome | undefined;
}

/** What is remembered of withdrawals. Each method is one commit. */
export interface WithdrawalStore {
  /** What is remembered of this nonce. */
  find(nonce: Hex32): Promise<WithdrawalRecord | undefined>;
  /**
   * Remembers the order, or gives what is remembered of its nonce: perhaps another order, of another address.
   */
  open(address: Address, order: WithdrawalOrder, atMs: number): Promise<WithdrawalRecord>;
  /** Sets the payload when there is none; gives the one that counts. */
  choosePayload(address: Address, payload: Hex, atMs: number): Promise<Hex>;
  close(address: Address, outcome: WithdrawalOutcome, atMs: number): Promise<void>;
}

/** Whether the contracts take what the account of the allocator does. */
export interface AllocatorStanding {
  /** The account. */
  readonly account: Address;
  /** It may record payloads in the hub's Allocator. */
  readonly mayRecord: boolean;
  /** Whose signatures the depository accepts. */
  readonly depositoryAllocator: Address;
}

/**
 * What the allocator's account does on the hub and on the chain that pays.
 *
 * @throws NodeUnavailable, RpcFault
 */
export interface Payouts {
  /** In the newest blocks. */
  standing(): Promise<AllocatorStanding>;
  /**
   * The payload that the hub's Allocator has recorded for the address, beyond reorgs or in the newest block.
   */
  recorded(address: Address, at: "latest" | "final"): Promise<Hex32 | undefined>;
  /** Records the payload on the hub and waits until that is mined. @throws PayoutReverted */
  record(
    address: Address,
    withdrawalId: Hex32,
    request: SubmitWithdrawRequest,
    oracleSignature: Hex,
  ): Promise<TxHash>;
  /** The allocator's signature of a payload for its depository. */
  sign(request: EvmCallRequest): Promise<Hex>;
  /** Whether the depository has carried the payload out, in the newest block. */
  executed(withdrawalId: Hex32): Promise<boolean>;
  /** Unix seconds of the chain's newest block. */
  chainTime(): Promise<bigint>;
  /** Has the depository carry the payload out and waits until that is mined. @throws PayoutReverted */
  execute(request: EvmCallRequest, signature: Hex): Promise<TxHash>;
}

/** The chain says that the call would revert, or it did. */
export class PayoutReverted extends Error {
  constructor(what: string, reason: string) {
    super(`${what} reverts: ${reason}`);
    this.name = "PayoutReverted";
  }
}

/**
 * A node gave no usable answer: nothing is known, and running it again may help. Holds no text of a library
 * and no URL.
 */
export class NodeUnavailable extends Error {
  constructor(node: string, reason: string) {
    super(`the node of ${node} did not respond usably: ${reason}`);
    this.name = "NodeUnavailable";
  }
}
