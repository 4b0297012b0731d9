import type { Signer } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import type { Services } from "../ports/services.ts";

type Needs = Pick<Services, "signer" | "executor">;

/** Whoever has a lane on each chain. */
export function laneSigners({ signer, executor }: Needs): readonly Signer[] {
  return executor === undefined ? [signer] : [signer, executor];
}

/** Who signs for this lane. @throws Error when the key is not configured any more: its bytes can not be replaced. */
export function signerOf(services: Needs, sender: Address): Signer {
  const found = laneSigners(services).find(({ address }) => address === sender);
  if (found === undefined) throw new Error(`no key of this instance signs for ${sender}`);
  return found;
}
