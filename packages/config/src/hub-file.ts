import { join } from "node:path";
import type { Address, AttestationHub } from "@causeway/domain";
import { CLOCK_SKEW_SECONDS, parseAddress } from "@causeway/domain";
import { finalityPolicy } from "@causeway/families";
import { hubEntry } from "./attestation-schema.ts";
import { ConfigError } from "./config-error.ts";
import { endpointProblems, endpointUrls } from "./endpoint-quorum.ts";
import type { Env } from "./env.ts";
import { pathOf, readJsonFile, type ConfigLocation } from "./json-file.ts";
import { resolvePlaceholders, variableAt } from "./placeholder.ts";

/** Optional hub fields: contracts of some attestations, and when deposits start to be attested in parts. */
const OPTIONAL_FIELDS: readonly string[] = [
  "oracleMultisigAddress",
  "allocatorAddress",
  "genericMappingAddress",
  "depositPartsSince",
];

/** The content of the hub file. */
export interface LoadedHub {
  readonly hub: AttestationHub;
  readonly warnings: readonly string[];
}

/**
 * Reads `configs/chains.hub.<ENVIRONMENT>.json`: the hub as one object, or as the only element of an array.
 * Fields may be at the top or in `additionalData`; unknown ones are ignored.
 * @throws ConfigError with every problem: missing file, several hubs, unset variables, invalid values
 */
export function loadHub(source: ConfigLocation & { readonly env: Env }): LoadedHub {
  const fileName = `chains.hub.${source.environment}.json`;
  const document = onlyElement(readJsonFile(join(source.configsDir, fileName), fileName), fileName);
  const written = flatten(document);
  const resolved = resolvePlaceholders(written, source.env);
  const isOptional = (path: readonly (string | number)[]): boolean =>
    OPTIONAL_FIELDS.includes(String(path[0]));
  const problems: string[] = resolved.unset
    .filter(({ path }) => !isOptional(path) && path[0] !== "additionalData")
    .map(({ path, variable }) => `${fileName}: ${path.join(".")} is required; missing variable: ${variable}`);
  const warnings = resolved.unset
    .filter(({ path }) => isOptional(path))
    .map(({ path, variable }) => `hub.${path.join(".")} is not configured; missing variable: ${variable}`);
  const unsetFields = new Set(resolved.unset.map(({ path }) => String(path[0])));
  const parsed = hubEntry.safeParse(resolved.value);
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues
        .filter(({ path }) => !unsetFields.has(String(path[0])))
        .map((issue) => `${fileName}${pathOf(issue)}${variableAt(written, issue.path)}: ${issue.message}`),
    );
    throw new ConfigError(problems);
  }
  const entry = parsed.data;
  for (const { path } of resolvePlaceholders(entry, {}).unset)
    problems.push(
      `${fileName}.${path.join(".")}: variable contains another placeholder; set the value itself`,
    );
  const chainId = Number(entry.chainId ?? entry.hubChainId ?? Number.NaN);
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    problems.push(`${fileName}: chainId must be the EVM chain id of the hub`);
  if (entry.chainId !== undefined && entry.hubChainId !== undefined && Number(entry.hubChainId) !== chainId)
    problems.push(`${fileName}: chainId and hubChainId must be equal`);
  const { hubAddress, oracleAddress, oracleMultisigAddress, allocatorAddress, genericMappingAddress } = entry;
  const contracts = new Map<string, string>();
  for (const [field, text] of Object.entries({
    hubAddress,
    oracleAddress,
    oracleMultisigAddress,
    allocatorAddress,
    genericMappingAddress,
  })) {
    if (text === undefined) continue;
    const duplicate = contracts.get(text.toLowerCase());
    if (duplicate !== undefined)
      problems.push(`${fileName}: ${duplicate} and ${field} must be different addresses`);
    contracts.set(text.toLowerCase(), field);
  }
  // With settlementKey "deposits", one fill can settle any later deposit of its order; only the timestamps
  // prevent a second settlement.
  if (entry.settlementKey === "deposits" && entry.fillLeadSeconds > CLOCK_SKEW_SECONDS)
    problems.push(
      `${fileName}: fillLeadSeconds above ${CLOCK_SKEW_SECONDS} requires settlementKey "payment"; otherwise one fill could settle two deposits`,
    );
  const rpcUrls = endpointUrls(entry.httpRpcUrl);
  const [rpcUrl = ""] = rpcUrls;
  problems.push(...endpointProblems(fileName, rpcUrls, entry.rpcQuorum));
  const finality = finalityPolicy(entry, fileName, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    warnings,
    hub: {
      name: entry.id,
      rpcUrl,
      ...(rpcUrls.length > 1 && { rpcUrls }),
      ...(entry.rpcQuorum !== undefined && { rpcQuorum: entry.rpcQuorum }),
      chainId,
      hubAddress: addressOf(entry.hubAddress),
      oracleAddress: addressOf(entry.oracleAddress),
      oracleMultisigAddress: optionalAddress(entry.oracleMultisigAddress),
      allocatorAddress: optionalAddress(entry.allocatorAddress),
      ...(entry.genericMappingAddress !== undefined && {
        genericMappingAddress: addressOf(entry.genericMappingAddress),
      }),
      domain: entry.domain,
      settlementKey: entry.settlementKey,
      fillLeadSeconds: entry.fillLeadSeconds,
      ...(entry.depositPartsSince !== undefined && { depositPartsSince: entry.depositPartsSince }),
      finality,
    },
  };
}

function onlyElement(document: unknown, fileName: string): unknown {
  if (!Array.isArray(document)) return document;
  if (document.length !== 1) throw new ConfigError([`${fileName}: must describe exactly one hub`]);
  return document[0] as unknown;
}

/** The fields of `additionalData`, overridden by those at the top. */
function flatten(document: unknown): unknown {
  if (typeof document !== "object" || document === null) return document;
  const { additionalData, ...top } = document as Readonly<Record<string, unknown>>;
  return typeof additionalData === "object" && additionalData !== null ? { ...additionalData, ...top } : top;
}

function optionalAddress(text: string | undefined): Address | undefined {
  return text === undefined ? undefined : addressOf(text);
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new TypeError("invariant violated: the schema accepted an invalid address");
  return address;
}
