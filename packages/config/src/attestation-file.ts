import { join } from "node:path";
import type { Address, AttestationChain, EvmAttestationFacts, VmType } from "@causeway/domain";
import { canonicalAddress, hasWrongChecksum, NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import { keccak256, stringToBytes } from "viem";
import { bitcoinFacts } from "./bitcoin-facts.ts";
import { type AttestationChainEntry, attestationChainEntry } from "./attestation-schema.ts";
import type { ConfigLocation } from "./chain-file.ts";
import { pathOf, placeOf, readJsonFile } from "./chain-file.ts";
import { ConfigError } from "./config-error.ts";
import type { Env } from "./env.ts";
import { finalityOf } from "./finality.ts";
import { hyperliquidFacts } from "./hyperliquid-facts.ts";
import { WRONG_CHECKSUM } from "./kinds.ts";
import { lighterFacts } from "./lighter-facts.ts";
import { isUnasked, resolvePlaceholders, variableAt } from "./placeholder.ts";
import { sameChainProblems } from "./same-chain.ts";
import { solanaFacts } from "./solana-facts.ts";
import { tronFacts } from "./tron-facts.ts";

/** The same, also where parts of the file are wrong. */
export interface ReadAttestationChains extends LoadedAttestationChains {
  /** Every problem, with its path. */
  readonly problems: readonly string[];
}

/** What the chain file of an environment gives an oracle. */
export interface LoadedAttestationChains {
  /** Enabled chains in the order of the file. */
  readonly chains: readonly AttestationChain[];
  /**
   * Chains that are off although some of their variables are set, and what is not attested; each with what is
   * not set.
   */
  readonly warnings: readonly string[];
  /** Names of chains that are off because none of their variables is set. */
  readonly off: readonly string[];
}

/** Parts of an entry that an oracle needs; a variable that is unset elsewhere is none of its business. */
const NEEDED: readonly string[] = ["httpRpcUrl", "additionalDepositories", "chainId", "hubChainId"];

/** Of `additionalData`: without them more would be believed than the operator meant. */
const REQUIRED_FIELDS: readonly string[] = ["fillContracts", "exchangeContract"];

/** Parts that a chain may lack, and what is then not attested. */
const OPTIONAL_FIELDS: readonly { readonly path: string; readonly without: string }[] = [
  { path: "depository", without: "deposits and withdrawals" },
  { path: "contracts.router", without: "fills by the router" },
  { path: "contracts.approvalProxy", without: "fills by the approval proxy" },
  { path: "additionalData.esploraCompatibleApiUrl", without: "withdrawals that can no longer happen" },
  { path: "additionalData.explorerApiUrl", without: "withdrawals with an unknown transaction" },
];

/**
 * Reads from `configs/chains.<ENVIRONMENT>.json`, the file of the API, what an oracle needs of each chain,
 * and checks that part whole. A file of another network that has only these fields will do too.
 * @throws ConfigError with every problem and its path: unreadable file, unknown family, wrong values,
 * duplicates, a `required` chain whose variables are unset. No problem quotes a value: a URL may hold
 * credentials.
 */
export function loadAttestationChains(
  source: ConfigLocation & { readonly env: Env },
): LoadedAttestationChains {
  const { problems, ...loaded } = readAttestationChains(source);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded;
}

/**
 * For callers that check more: problems of the file's content are part of the result.
 * @throws ConfigError when there is no such file, or it is not an array.
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
    // Placeholders are replaced once: a variable that holds another one's name would pass the schema
    // unreplaced.
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
  const rpcUrls = typeof entry.httpRpcUrl === "string" ? [entry.httpRpcUrl] : entry.httpRpcUrl;
  // Endpoints that need not agree would be weaker than one: whichever answers first would be believed.
  const { rpcQuorum = Math.floor(rpcUrls.length / 2) + 1 } = entry.additionalData;
  if (new Set(rpcUrls).size < rpcUrls.length)
    problems.push(`${place}.httpRpcUrl: lists the same endpoint twice; a quorum needs distinct endpoints`);
  if (rpcQuorum > rpcUrls.length)
    problems.push(
      `${place}.additionalData.rpcQuorum: must be at most the number of endpoints (${rpcUrls.length})`,
    );
  else if (rpcQuorum > 1 && rpcQuorum * 2 <= rpcUrls.length)
    // Two groups that contradict each other could each be the first to agree.
    problems.push(`${place}.additionalData.rpcQuorum: must be more than half of the endpoints, or 1`);
  const evm = entry.vmType === "ethereum-vm" ? evmFacts(entry, place, problems) : undefined;
  const tron = entry.vmType === "tron-vm" ? tronFacts(entry, rpcUrls, place, problems) : undefined;
  const hyperliquid =
    entry.vmType === "hyperliquid-vm" ? hyperliquidFacts(entry, rpcUrls, place, problems) : undefined;
  const bitcoin = entry.vmType === "bitcoin-vm" ? bitcoinFacts(entry, place, problems) : undefined;
  const depositories = [entry.depository, ...entry.additionalDepositories].map((text, at) => {
    if (text === undefined) return undefined;
    const path = at === 0 ? ["depository"] : ["additionalDepositories", at - 1];
    const field = at === 0 ? "depository" : `additionalDepositories[${at - 1}]`;
    const where = `${place}.${field}${variableAt(source, path)}`;
    return entry.vmType === "ethereum-vm"
      ? evmAddress(text, where, problems)
      : familyAddress(entry.vmType, text, where, problems);
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
    hubChainId:
      entry.hubChainId ??
      (evm === undefined ? BigInt(keccak256(stringToBytes(entry.id))).toString() : String(evm.chainId)),
    evm,
    ...(bitcoin !== undefined && { bitcoin }),
    ...(hyperliquid !== undefined && { hyperliquid }),
    ...(entry.vmType === "lighter-vm" && { lighter: lighterFacts(entry) }),
    ...(tron !== undefined && { tron }),
    ...(entry.vmType === "solana-vm" && { solana: solanaFacts(entry) }),
  };
}

const EVM_BLOCK_TIME_SECONDS = 12;

function evmFacts(entry: AttestationChainEntry, place: string, problems: string[]): EvmAttestationFacts {
  const chainId = entry.chainId ?? Number(entry.hubChainId ?? Number.NaN);
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    problems.push(`${place}: chainId is missing; set it, or use the EVM chain id as hubChainId`);
  if (entry.chainId !== undefined && entry.hubChainId !== undefined && entry.hubChainId !== String(chainId))
    problems.push(`${place}: hubChainId of an EVM chain must equal its chainId`);
  const { fillContracts, isZksyncStack } = entry.additionalData;
  const { router, approvalProxy } = entry.contracts ?? {};
  const named = fillContracts ?? [router, approvalProxy].filter((address) => address !== undefined);
  return {
    chainId,
    finality: finalityOf(entry.additionalData, `${place}.additionalData`, problems),
    blockTimeSeconds: entry.blockTimeSeconds ?? EVM_BLOCK_TIME_SECONDS,
    fillContracts: named.map((text, at) => evmAddress(text, `${place}: fill contract ${at}`, problems)),
    isZksyncStack,
  };
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

function evmAddress(text: string, place: string, problems: string[]): Address {
  const address = parseAddress(text);
  if (hasWrongChecksum(text)) problems.push(`${place}: ${WRONG_CHECKSUM}`);
  if (address !== undefined && address !== NATIVE_CURRENCY) return address;
  problems.push(`${place}: must be a 20-byte address, not zero`);
  return NATIVE_CURRENCY;
}
