import type { PlannedContract } from "@causeway/contracts/deploy";
import { cloneCodeHash, type Address } from "@causeway/domain";
import { domainSeparator, keccak256, numberToHex, pad, stringToHex, type Hex } from "viem";

/** Values of all immutables in the code of a planned contract on one chain, by name. */
export function expectedImmutables(planned: PlannedContract, chainId: number): Record<string, Hex> {
  const { contract, address, domain, immutables } = planned;
  return {
    ...immutables,
    ...(contract === "DepositAddressFactory" && {
      initCodeHash: cloneCodeHash(address.toLowerCase() as Address),
    }),
    ...(domain !== undefined && domainImmutables(planned, domain, chainId)),
  };
}

/**
 * The Depository uses Solady's EIP712, the others OpenZeppelin's, with different names for the same values.
 */
function domainImmutables(
  { contract, address }: PlannedContract,
  { name, version }: { readonly name: string; readonly version: string },
  chainId: number,
): Record<string, Hex> {
  const common = {
    _cachedDomainSeparator: domainSeparator({
      domain: { name, version, chainId, verifyingContract: address },
    }),
    _cachedChainId: numberToHex(chainId),
    _cachedThis: address,
  };
  const [nameHash, versionHash] = [name, version].map((text) => keccak256(stringToHex(text)));
  if (nameHash === undefined || versionHash === undefined)
    throw new RangeError("invariant violated: no hash");
  return contract === "Depository"
    ? { ...common, _cachedNameHash: nameHash, _cachedVersionHash: versionHash }
    : {
        ...common,
        _hashedName: nameHash,
        _hashedVersion: versionHash,
        _name: shortString(name),
        _version: shortString(version),
      };
}

/** OpenZeppelin's ShortString: up to 31 bytes, with the length in the last byte. */
function shortString(text: string): Hex {
  const bytes = stringToHex(text);
  const length = (bytes.length - 2) / 2;
  if (length > 31) throw new RangeError(`domain name and version must be at most 31 bytes, got ${length}`);
  return `0x${pad(bytes, { dir: "right" }).slice(2, 64)}${length.toString(16).padStart(2, "0")}`;
}
