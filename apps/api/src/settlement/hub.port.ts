import type { BroadcastOutcome, GasPrices } from "@causeway/chains";
import type { Address, AttestationHub, Hex, Hex32 } from "@causeway/domain";
import type { SignedExecution } from "./settlement.port.ts";

/** Whose signatures the hub's multisig accepts, and how many it reads. */
export interface HubSigners {
  /** Lower case. */
  readonly signers: ReadonlySet<Address>;
  readonly threshold: number;
}

/** The hub as settlement uses it. @throws RpcFault: nothing is known, ask again. */
export interface HubChain {
  readonly hub: AttestationHub;
  /** Nonces that `account` has used, in the newest block and in the newest final one. */
  nonces(account: Address): Promise<{ readonly latest: number; readonly final: number }>;
  /** Which of the keys were carried out, in the newest block or in the newest final one. */
  executed(keys: readonly Hex32[], at: "latest" | "final"): Promise<ReadonlySet<Hex32>>;
  /** What the hub says to one execution alone, now: undefined when it would carry it out, else why not. */
  refusal(execution: SignedExecution, sender: Address): Promise<string | undefined>;
  signers(): Promise<HubSigners>;
  gasPrices(): Promise<GasPrices>;
  broadcast(raw: Hex): Promise<BroadcastOutcome>;
  /** Gas that one transaction may use now: that of a block, and no more than EIP-7825 allows. */
  transactionGasLimit(): Promise<bigint>;
  /** What each execution takes in a batch, when `sender` submits it and none may use more than `room`. */
  executionGas(
    executions: readonly SignedExecution[],
    sender: Address,
    threshold: number,
    room: bigint,
  ): Promise<ExecutionGas[]>;
  /** The call that carries executions out, in their order. */
  carry(executions: readonly SignedExecution[]): Omit<HubCall, "gasLimit">;
  /**
   * Smallest units of a token of the hub that an address holds, in the newest block or in the newest final
   * one.
   */
  balance(owner: Address, tokenId: bigint, at: "latest" | "final"): Promise<bigint>;
  /**
   * The payload that the hub's Allocator has recorded for a withdrawal address; undefined when there is none,
   * or no Allocator.
   */
  recordedWithdrawal(address: Address, at: "latest" | "final"): Promise<Hex32 | undefined>;
  close(): Promise<void>;
}

export interface HubCall {
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
}

/** What an execution takes; `tooLarge`: more than a transaction may use. */
export type ExecutionGas = { readonly kind: "needs"; readonly gas: bigint } | { readonly kind: "tooLarge" };
