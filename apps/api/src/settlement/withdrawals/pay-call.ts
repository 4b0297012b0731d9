import type { Signer } from "@causeway/attest";
import type { Address, Hex, TxHash } from "@causeway/domain";
import { decodeErrorResult, type Abi } from "viem";
import type { CalledChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import { advanceCallsOf, sendContractCall } from "../../payments/index.ts";
import type { SettlementServices } from "../settlement-services.port.ts";
import { NodeUnavailable, PayoutReverted } from "./withdrawals.port.ts";

/** How long one run waits for a block with the call. The next run continues with the same transaction. */
const MINED_WITHIN_MS = 180_000;

/** A call by an account whose nonces nothing else uses. */
export interface AccountCall {
  /** Identifies the call permanently. A call has at most one live transaction at a time. */
  readonly callId: string;
  /** For error messages. */
  readonly what: string;
  readonly to: Address;
  readonly data: Hex;
  /** Names the contract's errors. */
  readonly abi: Abi;
}

export type PayCallServices = Pick<
  SettlementServices,
  "clock" | "events" | "uow" | "reads" | "settlementPolicy" | "payoutContracts"
>;

/**
 * Makes a call and waits until it is mined, or continues one that an earlier run sent.
 * @throws PayoutReverted when it would revert, or did; NodeUnavailable when it waits; RpcFault
 */
export async function payCall(
  baseServices: PayCallServices,
  calledChain: CalledChain,
  signer: Signer,
  call: AccountCall,
): Promise<TxHash> {
  const services = { ...baseServices, payoutContracts: baseServices.payoutContracts ?? [call.to] };
  const { reads, settlementPolicy: policy } = services;
  // Another key makes a call of its own: the contract runs only one of them.
  const id = `${call.callId} by ${signer.address}`;
  const untilMs = performance.now() + MINED_WITHIN_MS;
  for (;;) {
    // A mined slot may have been reorged out since, and a reverted slot ends once its block is final.
    await advanceCallsOf(services, calledChain, signer, policy);
    const slot = await reads.slotOfLeg("payout", id);
    if (slot === undefined) await send(services, calledChain, signer, { ...call, callId: id });
    const txHash = slot && successfulAttempt(slot, call);
    if (txHash !== undefined) return txHash;
    if (performance.now() > untilMs)
      throw new NodeUnavailable(
        calledChain.chain.name,
        slot?.state === "mined"
          ? "the transaction that was sent failed, and is repeated once its block is final"
          : "the transaction that was sent is not mined yet",
      );
    await new Promise((resolve) => setTimeout(resolve, policy.intervalMs));
  }
}

async function send(
  services: PayCallServices,
  calledChain: CalledChain,
  signer: Signer,
  { callId, what, to, data, abi }: AccountCall,
): Promise<void> {
  const { chain, connection } = calledChain;
  const simulated = await connection.reader.simulate(signer.address, { to, data, value: 0n });
  if (simulated.kind === "reverts") throw new PayoutReverted(what, errorName(simulated.data, abi));
  if (simulated.kind === "insufficientFunds") throw new NodeUnavailable(chain.name, NO_GAS);
  const leg = { kind: "payout", id: callId, requestId: undefined };
  const gasLimit = (simulated.gas * 3n) / 2n;
  const sent = await sendContractCall(services, calledChain, signer, { leg, call: { to, data }, gasLimit });
  if (sent === "insufficientFunds") throw new NodeUnavailable(chain.name, NO_GAS);
  if (typeof sent === "object" && (sent.kind === "waits" || sent.kind === "held"))
    throw new NodeUnavailable(chain.name, sent.why);
}

const NO_GAS = "the allocator's account lacks the native token for gas";

function successfulAttempt(
  { attempts, minedAttempt, minedStatus, state }: Slot,
  { what }: AccountCall,
): TxHash | undefined {
  if (state === "open") return undefined;
  const mined = attempts.find(({ n }) => n === minedAttempt);
  if (mined === undefined) throw new Error(`invariant violated: ${what} was mined by unknown bytes`);
  return minedStatus === "success" && mined.kind === "pay" ? mined.txHash : undefined;
}

function errorName(data: Hex, abi: Abi): string {
  try {
    return decodeErrorResult({ abi, data }).errorName;
  } catch {
    // An error of another contract that the called contract calls.
    return data.slice(0, 74);
  }
}
