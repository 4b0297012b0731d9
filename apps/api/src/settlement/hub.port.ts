import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import type { CalledChain } from "../chains/chains.port.ts";
import type { SignedExecution } from "./settlement.port.ts";

/** The signers that the hub's multisig accepts, and how many signatures it reads. */
export interface HubSigners {
  /** Lower case. */
  readonly signers: ReadonlySet<Address>;
  readonly threshold: number;
}

/** The hub as settlement uses it. @throws RpcFault: nothing is known, retry. */
export interface HubChain {
  readonly hub: AttestationHub;
  /** The hub's chain for the payment engine, which sends the transactions. */
  readonly lane: CalledChain;
  /** Which of the keys were executed, at the newest block or at the newest final one. */
  executed(keys: readonly Hex32[], blockTag: "latest" | "final"): Promise<ReadonlySet<Hex32>>;
  /**
   * Which of the keys were executed, and how many nonces each account had used, at one final block. Undefined
   * while no block is final.
   */
  final(
    keys: readonly Hex32[],
    accounts: readonly Address[],
  ): Promise<
    { readonly executed: ReadonlySet<Hex32>; readonly nonces: ReadonlyMap<Address, number> } | undefined
  >;
  /** Why the hub would refuse this one execution now. Undefined if it would run. */
  refusal(execution: SignedExecution, sender: Address): Promise<string | undefined>;
  signers(): Promise<HubSigners>;
  /** Gas limit of one transaction now: the block's, capped by EIP-7825. */
  transactionGasLimit(): Promise<bigint>;
  /** Gas of each execution in a batch that `sender` submits, when none may use more than `maxGas`. */
  executionGas(
    executions: readonly SignedExecution[],
    sender: Address,
    threshold: number,
    maxGas: bigint,
  ): Promise<ExecutionGas[]>;
  /** The call that runs the executions in their order. */
  batchCall(executions: readonly SignedExecution[]): Omit<HubCall, "gasLimit">;
  /** Balance of a hub token in base units, at the newest block or at the newest final one. */
  balance(owner: Address, tokenId: bigint, blockTag: "latest" | "final"): Promise<bigint>;
  /**
   * The payload that the hub's Allocator recorded for a withdrawal address. Undefined if there is none, or no
   * Allocator.
   */
  recordedWithdrawal(address: Address, blockTag: "latest" | "final"): Promise<Hex32 | undefined>;
  close(): Promise<void>;
}

export interface HubCall {
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
}

/** Gas of an execution. `tooLarge`: it exceeds the limit of a transaction. */
export type ExecutionGas = { readonly kind: "needs"; readonly gas: bigint } | { readonly kind: "tooLarge" };
