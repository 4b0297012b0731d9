import { signTransaction } from "@causeway/chains";
import type { FeeCaps } from "@causeway/chains";
import type { LaneChain } from "../../chains/chains.port.ts";
import { signerOf } from "../../chains/index.ts";
import type { Attempt, AttemptKind, Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { keyOf, limitsOfLane } from "../policy/lane-limits.ts";
import { limitedFees } from "./before-signing.ts";
import type { ToSign } from "./payer.ts";

/**
 * Signs payments whose slots are not committed yet, for their own commit: only with a key of this process,
 * because the commit locks the lane, and only without a limit per day, which is counted for committed slots.
 * The policy allowed them in this commit.
 * @returns the attempts, by slot; a slot that is missing is signed after the commit, which reports the error
 */
export async function signNew(
  services: WorkerServices,
  slots: readonly Slot[],
  maxFeePerGas: () => bigint | undefined,
): Promise<ReadonlyMap<string, Attempt>> {
  const signed = new Map<string, Attempt>();
  for (const slot of slots) {
    try {
      if (signerOf(services, slot.sender).isLocal !== true || hasDayLimit(services, slot)) continue;
      const move = { kind: "sign", attempt: "pay", why: "unsigned" } as const;
      const fees = await limitedFees(services, { slot, move }, maxFeePerGas());
      if (fees === undefined) continue;
      signed.set(slot.id, await signWith(services, { slot, kind: "pay" }, { ...fees, gas: slot.gasLimit }));
    } catch {
      continue;
    }
  }
  return signed;
}

function hasDayLimit(services: WorkerServices, slot: Slot): boolean {
  const { chainId } = slot;
  return limitsOfLane(services.spendingLimits, { key: keyOf(services, slot), chainId }).dayUsd !== undefined;
}

/**
 * A payment repeats the slot's call; a no-op sends nothing to ourselves at the same nonce. First attempts use
 * the planned fees and gas.
 */
export async function signAttempt(
  services: WorkerServices,
  connected: LaneChain,
  { slot, move: { attempt: kind } }: ToSign,
  { maxFeePerGas, maxPriorityFeePerGas }: FeeCaps,
): Promise<Attempt> {
  const gas =
    kind === "pay" || slot.attempts.length === 0 ? slot.gasLimit : await noopGas(connected, slot.sender);
  return await signWith(services, { slot, kind }, { gas, maxFeePerGas, maxPriorityFeePerGas });
}

async function signWith(
  services: WorkerServices,
  { slot, kind }: { readonly slot: Slot; readonly kind: AttemptKind },
  { gas, maxFeePerGas, maxPriorityFeePerGas }: FeeCaps & { readonly gas: bigint },
): Promise<Attempt> {
  const signer = signerOf(services, slot.sender);
  const { raw, hash } = await signTransaction(
    {
      chainId: slot.chainId,
      nonce: slot.nonce,
      ...callOf(slot, kind),
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas,
    },
    (digest, preimage) => signer.signDigest(digest, preimage),
  );
  return {
    n: slot.attempts.length,
    kind,
    raw,
    txHash: hash,
    maxFeePerGas,
    maxPriorityFeePerGas,
    createdAtMs: services.clock.nowMs(),
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  };
}

function callOf({ call, sender }: Slot, kind: AttemptKind) {
  if (kind === "noop") return { to: sender, data: "0x", value: 0n } as const;
  const { authorizationList, ...paying } = call;
  return { ...paying, ...(authorizationList && { authorizationList }) };
}

const PLAIN_TRANSFER_GAS = 21_000n;

/** Gas of an empty transfer to ourselves: 21000, more on rollups that charge data as gas. */
export async function noopGas({ connection }: LaneChain, self: Slot["sender"]): Promise<bigint> {
  const outcome = await connection.reader.simulate(self, { to: self, data: "0x", value: 0n });
  if (outcome.kind !== "ok") return PLAIN_TRANSFER_GAS;
  return outcome.gas <= PLAIN_TRANSFER_GAS ? PLAIN_TRANSFER_GAS : outcome.gas + outcome.gas / 2n;
}
