import { permit2Address } from "@causeway/contracts";
import type { SignatureFacts } from "@causeway/domain";
import type { TypedData } from "../../chains/permits.port.ts";
import { typedDataOf } from "./typed-data.ts";
import type { TermsWithPermit } from "./typed-data.ts";

/**
 * The facts of a signature that its quote's steps need.
 * @param approval the user's current approval of Permit2; unused for other methods
 */
export function signatureFacts(
  terms: TermsWithPermit,
  approval: { readonly allowance: bigint; readonly resetsApproval: boolean },
): Pick<SignatureFacts, "id" | "kind" | "sign" | "approved"> {
  const { permit, origin, destination } = terms;
  const { domain, types, value, primaryType } = typedDataOf(terms);
  return {
    id: origin.chainId === destination.chainId ? "authorize2" : "authorize1",
    kind: permit.method,
    sign: { signatureKind: "eip712", domain, types: copyTypes(types), value: { ...value }, primaryType },
    approved: permit.method === "permit2" ? { ...approval, spender: permit2Spender() } : undefined,
  };
}

function copyTypes(types: TypedData["types"]): Record<string, { name: string; type: string }[]> {
  const fields = Object.entries(types).map(
    ([name, typeFields]) => [name, typeFields.map((field) => ({ ...field }))] as const,
  );
  return Object.fromEntries(fields);
}

/** The same address on all chains. */
function permit2Spender(): `0x${string}` {
  return permit2Address.toLowerCase() as `0x${string}`;
}
