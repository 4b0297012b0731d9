import { hasWrongChecksum, parseAddress } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { QuorumPolicy } from "./examine.ts";

export interface SignerSettings {
  /** `ORACLE_SIGNERS`: addresses joined with `;`. Undefined or empty: no list. */
  readonly signers: string | undefined;
  /** The raw text of `ORACLE_SIGNERS_THRESHOLD`. Undefined or empty: 1. */
  readonly threshold: string | undefined;
  /**
   * The address that this oracle signs with; for a remote key, as reported by the key service. Lower case.
   */
  readonly localSigner: Address;
}

export interface SignerPolicy {
  /** Undefined exactly when there are problems. */
  readonly policy: QuorumPolicy | undefined;
  /** Why the oracle must not start; one sentence each. */
  readonly problems: readonly string[];
  /** Warnings for the operator; the oracle starts anyway. */
  readonly warnings: readonly string[];
}

/**
 * Reads the quorum policy from the settings. Problems are a threshold that is not a whole number of at
 * least 1 or exceeds the number of distinct signers, a malformed entry (or one with a wrong checksum), the
 * zero address, and a list without this oracle: each would change the meaning of the quorum.
 */
export function readSignerPolicy({ signers, threshold, localSigner }: SignerSettings): SignerPolicy {
  const problems: string[] = [];
  const warnings: string[] = [];
  const isThresholdSet = threshold !== undefined && threshold !== "";
  const needed = isThresholdSet ? (/^[1-9]\d{0,5}$/.test(threshold) ? Number(threshold) : undefined) : 1;
  if (needed === undefined) problems.push("ORACLE_SIGNERS_THRESHOLD must be an integer of at least 1");

  const list = signers === undefined || signers === "" ? undefined : readSigners(signers, problems);
  if (list === undefined) {
    if (isThresholdSet)
      warnings.push("ORACLE_SIGNERS_THRESHOLD is ignored because ORACLE_SIGNERS is not set");
  } else {
    // Compare the count only if every entry is valid: otherwise one mistake would be reported twice.
    if (problems.length === 0 && needed !== undefined && needed > list.size)
      problems.push(
        `ORACLE_SIGNERS_THRESHOLD is ${needed}, but ORACLE_SIGNERS lists only ${list.size} signer(s)`,
      );
    if (!list.has(localSigner)) problems.push(`ORACLE_SIGNERS must include the local signer, ${localSigner}`);
  }
  const isUsable = problems.length === 0 && needed !== undefined;
  return {
    policy: isUsable ? { signers: list, threshold: needed, localSigner } : undefined,
    problems,
    warnings,
  };
}

/** The distinct addresses of the list; adds a problem for each malformed entry. A trailing `;` is allowed. */
function readSigners(text: string, problems: string[]): ReadonlySet<Address> {
  const entries = text.split(";").map((entry) => entry.trim());
  if (entries.length > 1 && entries.at(-1) === "") entries.pop();
  const list = new Set<Address>();
  for (const [index, entry] of entries.entries()) {
    const address = entry.startsWith("0x") ? parseAddress(entry) : undefined;
    const place = `ORACLE_SIGNERS entry ${index + 1}`;
    if (address === undefined) problems.push(`${place} is not an address`);
    else if (hasWrongChecksum(entry))
      problems.push(
        `${place} has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case`,
      );
    else if (BigInt(address) === 0n) problems.push(`${place} is the zero address`);
    else list.add(address);
  }
  return list;
}
