import { nonceMappingEntry, setEntryDigest } from "@causeway/attest";
import type { SetEntry } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { nonceMappingAnswer } from "@causeway/wire";
import type { HubSigners } from "../hub.port.ts";
import type { HubMappings } from "./hub-mappings.port.ts";
import type { NewNonceMapping } from "../../chains/nonce-mappings.port.ts";
import type { AttestationOracle } from "../oracles.port.ts";
import { countedSignatures } from "../counted-signatures.ts";
import type { Finding } from "../ask-oracle.ts";

const PATH = "/attestations/signatures/nonce-mapping/v2";

/** The hub entry for a nonce mapping that a wallet signed. */
export function entryFor(chainName: string, mapping: NewNonceMapping): SetEntry {
  return nonceMappingEntry({ name: chainName, vmType: "hyperliquid-vm" }, mapping);
}

/**
 * Asks one oracle, with its peers, to sign a wallet's nonce mapping. Accepts only signatures of the entry
 * that is computed here.
 */
export async function askForEntry(
  oracle: AttestationOracle,
  mappings: Pick<HubMappings, "contract" | "chainId">,
  { signers: accepted, threshold }: HubSigners,
  chainName: string,
  mapping: NewNonceMapping,
  signal: AbortSignal,
): Promise<Finding<Hex>> {
  const { wallet, nonce, id, depositor, signature, signatureChainId } = mapping;
  const body = {
    walletChainId: chainName,
    wallet,
    nonce: nonce.toString(),
    id,
    depositor,
    signatureChainId,
    signature,
    requestPeerSignatures: true,
    requireThreshold: true,
  };
  const answered = await oracle.ask(PATH, body, signal);
  if (answered.kind === "away") return { kind: "later", reason: answered.reason, afterMs: undefined };
  if (answered.kind === "refused") {
    const reason = `${answered.code}: ${answered.message}`;
    const isNo = answered.code === "rejected" || answered.code === "invalid_request";
    return isNo ? { kind: "rejected", reason } : { kind: "later", reason, afterMs: answered.retryAfterMs };
  }
  const answer = nonceMappingAnswer.safeParse(answered.json);
  if (!answer.success) return { kind: "lie", reason: "the response does not match the schema of the route" };
  const entry = entryFor(chainName, mapping);
  const domain = { chainId: mappings.chainId, verifyingContract: mappings.contract };
  const slot = {
    digest: setEntryDigest(domain, entry),
    signatures: answer.data.genericMapping.signatures.map((one) => one.signature),
  };
  const counted = countedSignatures([slot], slot, accepted);
  if (counted.length < threshold)
    return {
      kind: "lie",
      reason: `the entry has ${counted.length} accepted oracle signatures, but the quorum is ${threshold}`,
    };
  // The multisig reads the first `threshold` signatures, which must ascend.
  const joined = counted.slice(0, threshold).map((one) => one.signature.slice(2));
  return { kind: "attested", value: `0x${joined.join("")}` };
}
