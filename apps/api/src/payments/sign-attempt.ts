import { signTransaction } from "@causeway/chains";
import type { Attempt, AttemptKind, Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { type LaneKeys, signerOf } from "../chains/index.ts";

/**
 * Signs the next attempt of a slot. A payment repeats the slot's call; a no-op sends nothing to ourselves at
 * the same nonce. Sends nothing: the caller commits the bytes first.
 */
export async function signAttempt(
  services: LaneKeys & Pick<Services, "clock">,
  slot: Slot,
  kind: AttemptKind,
  terms: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly gasLimit: bigint },
): Promise<Attempt> {
  const { authorizationList, ...paying } = slot.call;
  const call =
    kind === "noop"
      ? ({ to: slot.sender, data: "0x", value: 0n } as const)
      : { ...paying, ...(authorizationList && { authorizationList }) };
  const signer = signerOf(services, slot.sender);
  const { raw, hash } = await signTransaction(
    {
      chainId: slot.chainId,
      nonce: slot.nonce,
      ...call,
      gas: terms.gasLimit,
      maxFeePerGas: terms.maxFeePerGas,
      maxPriorityFeePerGas: terms.maxPriorityFeePerGas,
    },
    (digest) => signer.signDigest(digest),
  );
  return {
    n: slot.attempts.length,
    kind,
    raw,
    txHash: hash,
    maxFeePerGas: terms.maxFeePerGas,
    maxPriorityFeePerGas: terms.maxPriorityFeePerGas,
    createdAtMs: services.clock.nowMs(),
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  };
}
