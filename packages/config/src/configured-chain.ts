import { familyIdOf, hasWrongChecksum, WRONG_CHECKSUM, type FamilyId, type VmType } from "@causeway/domain";
import {
  canonicalAddress,
  families,
  type ConfiguredChain,
  type EntrySource,
  type FactsOf,
  type FamilyEntry,
} from "@causeway/families";
import { keccak256, stringToBytes } from "viem";
import type { AttestationChainEntry } from "./attestation-schema.ts";
import type { EntryPlace } from "./chain-loader.ts";
import { endpointProblems, endpointUrls, defaultQuorum } from "./endpoint-quorum.ts";
import { variableAt } from "./placeholder.ts";

/** The chain of an entry without placeholders; undefined if something was added to `problems`. */
export function toConfiguredChain(
  entry: AttestationChainEntry,
  { place, problems, source }: Pick<EntryPlace, "place" | "problems" | "source">,
): ConfiguredChain | undefined {
  const problemCount = problems.length;
  const rpcUrls = endpointUrls(entry.httpRpcUrl);
  // Without a quorum, several endpoints would be weaker than one, because the first answer would count.
  const { rpcQuorum = defaultQuorum(rpcUrls.length) } = entry.additionalData;
  problems.push(...endpointProblems(place, rpcUrls, rpcQuorum));
  const id = familyIdOf(entry.vmType);
  const { facts, hubChainId } = readFacts(id, { entry, rpcUrls, place, problems });
  const { depository: addressOf } = families[id];
  const depositories = [entry.depository, ...entry.additionalDepositories].map((text, index) => {
    if (text === undefined) return undefined;
    const path = index === 0 ? ["depository"] : ["additionalDepositories", index - 1];
    const field = index === 0 ? "depository" : `additionalDepositories[${index - 1}]`;
    const where = `${place}.${field}${variableAt(source, path)}`;
    return addressOf === undefined
      ? familyAddress(entry.vmType, text, where, problems)
      : addressOf(text, where, problems);
  });
  if (problems.length > problemCount) return undefined;
  const [depository, ...additional] = depositories;
  return {
    name: entry.id,
    vmType: entry.vmType,
    rpcUrls,
    rpcQuorum,
    depository,
    additionalDepositories: additional.filter((address) => address !== undefined),
    hubChainId: entry.hubChainId ?? hubChainId ?? BigInt(keccak256(stringToBytes(entry.id))).toString(),
    // Facts only for the chain's own family.
    evm: undefined,
    [id]: facts,
  };
}

function readFacts<F extends FamilyId>(
  id: F,
  source: EntrySource,
): { readonly facts: FactsOf<F>; readonly hubChainId: string | undefined } {
  const family: FamilyEntry<F, FactsOf<F>> = families[id];
  const facts = family.facts(source);
  return { facts, hubChainId: family.hubChainId?.(facts) };
}

/** The address in canonical format: signed payloads contain it, so all oracles must use the same text. */
function familyAddress(vm: VmType, text: string, place: string, problems: string[]): string {
  if (hasWrongChecksum(text)) problems.push(`${place}: ${WRONG_CHECKSUM}`);
  try {
    return canonicalAddress(vm, text);
  } catch {
    problems.push(`${place}: must be a ${vm} address`);
    return text;
  }
}
