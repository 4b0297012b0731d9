import { join } from "node:path";
import type { AttestationChain, FactsOf, FamilyId, VmType } from "@causeway/domain";
import { canonicalAddress, familyIdOf, hasWrongChecksum } from "@causeway/domain";
import { keccak256, stringToBytes } from "viem";
import { type AttestationChainEntry, attestationChainEntry } from "./attestation-schema.ts";
import type { ConfigLocation } from "./chain-file.ts";
import { pathOf, placeOf, readJsonFile } from "./chain-file.ts";
import { ConfigError } from "./config-error.ts";
import { endpointProblems, endpointUrls, usualQuorum } from "./endpoint-quorum.ts";
import type { Env } from "./env.ts";
import { families } from "./families.ts";
import type { EntrySource, FamilyEntry } from "./family-entry.ts";
import { WRONG_CHECKSUM } from "./kinds.ts";
import { isUnasked, resolvePlaceholders, variableAt } from "./placeholder.ts";
import { sameChainProblems } from "./same-chain.ts";

/** The same, even if parts of the file are invalid. */
export interface ReadAttestationChains extends LoadedAttestationChains {
  /** Every problem, with its path. */
  readonly problems: readonly string[];
}

/** The content of an environment's chain file for an oracle. */
export interface LoadedAttestationChains {
  /** Enabled chains in the order of the file. */
  readonly chains: readonly AttestationChain[];
  /**
   * Chains that are disabled although some of their variables are set, and what is not attested, each with
   * the missing settings.
   */
  readonly warnings: readonly string[];
  /** Names of chains that are disabled because none of their variables is set. */
  readonly off: readonly string[];
}

/** Parts of an entry that an oracle needs; unset variables elsewhere do not matter. */
const NEEDED: readonly string[] = ["httpRpcUrl", "additionalDepositories", "chainId", "hubChainId"];

/** Fields of `additionalData` without which the oracle would accept more than the operator intended. */
const REQUIRED_FIELDS: readonly string[] = ["fillContracts", "exchangeContract"];

/** Optional parts of a chain, and what is not attested without them. */
const OPTIONAL_FIELDS: readonly { readonly path: string; readonly without: string }[] = [
  { path: "depository", without: "deposits and withdrawals" },
  { path: "contracts.router", without: "fills by the router" },
  { path: "contracts.approvalProxy", without: "fills by the approval proxy" },
  { path: "additionalData.esploraCompatibleApiUrl", without: "withdrawals that can no longer happen" },
  { path: "additionalData.explorerApiUrl", without: "withdrawals with an unknown transaction" },
];

/**
 * Reads from `configs/chains.<ENVIRONMENT>.json`, the file of the API, what an oracle needs of each chain,
 * and validates that part completely. A file of another network that has only these fields is sufficient too.
 * @throws ConfigError with every problem and its path: unreadable file, unknown family, wrong values,
 * duplicates, a `required` chain whose variables are unset. No problem quotes a value, because a URL may
 * contain credentials.
 */
export function loadAttestationChains(
  source: ConfigLocation & { readonly env: Env },
): LoadedAttestationChains {
  const { problems, ...loaded } = readAttestationChains(source);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded;
}

/**
 * For callers that check more: problems of the content are part of the result.
 * @throws ConfigError if the file is missing or not an array
 */
export function readAttestationChains(source: ConfigLocation & { readonly env: Env }): ReadAttestationChains {
  const fileName = `chains.${source.environment}.json`;
  const documents = readJsonFile(join(source.configsDir, fileName), fileName);
  if (!Array.isArray(documents)) throw new ConfigError([`${fileName}: must be an array of chains`]);

  const problems: string[] = [];
  const warnings: string[] = [];
  const off: string[] = [];
  const chains: AttestationChain[] = [];
  const ids = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, document] of (documents as unknown[]).entries()) {
    const place = `${fileName}: ${placeOf(document, index)}`;
    const written = check(document, place, problems);
    if (written === undefined) {
      // The variables are checked nevertheless, so that all problems are reported at once.
      const further: string[] = [];
      check(resolvePlaceholders(document, source.env).value, place, further, document);
      problems.push(...further.filter((one) => !problems.includes(one)));
      continue;
    }
    if (ids.has(written.id)) problems.push(`${fileName}: duplicate id ${written.id}`);
    ids.add(written.id);
    if (!written.enabled) continue;

    const resolved = resolvePlaceholders(document, source.env);
    const missing = resolved.unset.filter(({ path }) => isNeeded(path));
    if (missing.length > 0) {
      const variables = [...new Set(missing.map((one) => one.variable))].join(", ");
      if (written.required) problems.push(`${place}: required chain is missing variables: ${variables}`);
      else if (isUnasked(document, source.env)) off.push(written.id);
      else warnings.push(`chain ${written.id} is disabled; missing variables: ${variables}`);
      continue;
    }
    for (const { path, variable } of resolved.unset)
      for (const one of OPTIONAL_FIELDS)
        if (path.join(".") === one.path)
          warnings.push(
            `chain ${written.id}: ${one.without} are not attested; missing variable: ${variable}`,
          );
    // Placeholders are replaced once, so a variable that contains another placeholder must be refused.
    for (const { path } of resolvePlaceholders(resolved.value, {}).unset)
      if (isNeeded(path) || OPTIONAL_FIELDS.some((one) => one.path === path.join(".")))
        problems.push(
          `${place}.${path.join(".")}: variable contains another placeholder; set the value itself`,
        );
    const entry = check(resolved.value, place, problems, document);
    if (entry === undefined) continue;
    const chain = toAttestationChain(entry, place, problems, document);
    if (chain === undefined) continue;
    if (numbers.has(chain.hubChainId))
      problems.push(`${fileName}: duplicate hubChainId ${chain.hubChainId} (chain ${chain.name})`);
    numbers.add(chain.hubChainId);
    chains.push(chain);
  }
  problems.push(...sameChainProblems(chains).map((problem) => `${fileName}: ${problem}`));
  return { chains, warnings, off, problems };
}

function isNeeded(path: readonly (string | number)[]): boolean {
  const isMore = path[0] === "additionalData" && REQUIRED_FIELDS.includes(String(path[1]));
  return isMore || NEEDED.includes(String(path[0]));
}

/** @param source the document with its placeholders, which problems name */
function check(
  document: unknown,
  place: string,
  problems: string[],
  source: unknown = document,
): AttestationChainEntry | undefined {
  const result = attestationChainEntry.safeParse(document);
  if (result.success) return result.data;
  problems.push(
    ...result.error.issues.map(
      (issue) => `${place}${pathOf(issue)}${variableAt(source, issue.path)}: ${issue.message}`,
    ),
  );
  return undefined;
}

function toAttestationChain(
  entry: AttestationChainEntry,
  place: string,
  problems: string[],
  source: unknown,
): AttestationChain | undefined {
  const before = problems.length;
  const rpcUrls = endpointUrls(entry.httpRpcUrl);
  // Without a quorum, several endpoints would be weaker than one, because the first answer would count.
  const { rpcQuorum = usualQuorum(rpcUrls.length) } = entry.additionalData;
  problems.push(...endpointProblems(place, rpcUrls, rpcQuorum));
  const id = familyIdOf(entry.vmType);
  const { facts, hubChainId } = readFacts(id, { entry, rpcUrls, place, problems });
  const { depository: addressOf } = families[id];
  const depositories = [entry.depository, ...entry.additionalDepositories].map((text, at) => {
    if (text === undefined) return undefined;
    const path = at === 0 ? ["depository"] : ["additionalDepositories", at - 1];
    const field = at === 0 ? "depository" : `additionalDepositories[${at - 1}]`;
    const where = `${place}.${field}${variableAt(source, path)}`;
    return addressOf === undefined
      ? familyAddress(entry.vmType, text, where, problems)
      : addressOf(text, where, problems);
  });
  if (problems.length > before) return undefined;
  const [depository, ...additional] = depositories;
  return {
    name: entry.id,
    vmType: entry.vmType,
    rpcUrls,
    rpcQuorum,
    depository,
    additionalDepositories: additional.filter((one) => one !== undefined),
    hubChainId: entry.hubChainId ?? hubChainId ?? BigInt(keccak256(stringToBytes(entry.id))).toString(),
    // Of its own family only.
    evm: undefined,
    [id]: facts,
  };
}

function readFacts<F extends FamilyId>(
  id: F,
  source: EntrySource,
): { readonly facts: FactsOf<F>; readonly hubChainId: string | undefined } {
  const family: FamilyEntry<F> = families[id];
  const facts = family.facts(source);
  return { facts, hubChainId: family.hubChainId?.(facts) };
}

/** In the family's canonical format: it enters signed payloads, so oracles must write the same text. */
function familyAddress(vm: VmType, text: string, place: string, problems: string[]): string {
  if (hasWrongChecksum(text)) problems.push(`${place}: ${WRONG_CHECKSUM}`);
  try {
    return canonicalAddress(vm, text);
  } catch {
    problems.push(`${place}: must be a ${vm} address`);
    return text;
  }
}
