import { hyperliquidTypedData, type Address, type HyperliquidSigningProfile } from "@causeway/domain";
import { pad, recoverTypedDataAddress, serializeSignature } from "viem";
import type { PostedAction } from "./posted-action.ts";
import { HyperliquidError } from "./refusal.ts";

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * The lowercase address that signed an action under a profile. Any signature recovers to some address;
 * whether it has an account is not checked.
 *
 * @throws HyperliquidError
 */
export async function recoverSigner(
  profile: HyperliquidSigningProfile,
  { action, signature }: PostedAction,
): Promise<Address> {
  const { r, s, v } = signature;
  // The high-s form recovers to the same account, so an action would have two valid signatures.
  if (BigInt(s) > HALF_ORDER) throw new HyperliquidError("Invalid signature");
  const { domain, types, primaryType, value } = hyperliquidTypedData(profile, action);
  try {
    const signer = await recoverTypedDataAddress({
      domain,
      types,
      primaryType,
      message: value,
      signature: serializeSignature({ r: pad(r), s: pad(s), v: BigInt(v) }),
    });
    return signer.toLowerCase() as Address;
  } catch {
    throw new HyperliquidError("Invalid signature");
  }
}
