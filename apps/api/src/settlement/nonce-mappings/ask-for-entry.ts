import { nonceMappingEntry, setEntryDigest } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { nonceMappingAnswer } from "@causeway/wire";
import type { HubSigners } from "../hub.port.ts";
import type { HubMappings } from "./hub-mappings.port.ts";
import type { NewNonceMapping } from "../../chains/nonce-mappings.port.ts";
import type { AttestationOracle } from "../oracles.port.ts";
import { quorumSignature } from "../verify-execution.ts";
import { askAndJudge } from "../ask-oracle.ts";
import type { Finding } from "../ask-oracle.ts";

const PATH = "/attestations/signatures/nonce-mapping/v2";

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
  const domain = { chainId: mappings.chainId, verifyingContract: mappings.contract };
  const digest = setEntryDigest(domain, nonceMappingEntry(chainName, mapping));
  const body = {
    walletChainId: chainName,
    wallet,
    nonce: nonce.toString(),
    id,
    depositor,
    signatureChainId,
    signature,
  };
  return await askAndJudge(oracle, PATH, body, nonceMappingAnswer, signal, ({ genericMapping }) => {
    const signatures = genericMapping.signatures.map((entry) => entry.signature);
    return quorumSignature("entry", { digest, signatures }, [], { accepted, threshold });
  });
}
