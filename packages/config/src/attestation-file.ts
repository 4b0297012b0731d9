import type { ConfiguredChain } from "@causeway/families";
import { attestationChainEntry, type AttestationChainEntry } from "./attestation-schema.ts";
import {
  readChainFile,
  type ChainSource,
  type ChainFileReader,
  type ChainFileResult,
  type LoadedChainFile,
} from "./chain-loader.ts";
import { ConfigError } from "./config-error.ts";
import { toConfiguredChain } from "./configured-chain.ts";

/** The content of an environment's chain file for an oracle. */
export type LoadedAttestationChains = LoadedChainFile<ConfiguredChain>;

/** Parts of an entry that an oracle needs; unset variables in other parts are ignored. */
const REQUIRED_ENTRY_FIELDS: readonly string[] = [
  "httpRpcUrl",
  "additionalDepositories",
  "chainId",
  "hubChainId",
];

/** Fields of `additionalData` without which the oracle would accept more than the operator intended. */
const REQUIRED_FIELDS: readonly string[] = ["fillContracts", "exchangeContract"];

/** Optional parts of a chain, and what is not attested without them. */
const OPTIONAL_FIELDS: readonly { readonly path: string; readonly without: string }[] = [
  { path: "depository", without: "deposits and withdrawals" },
  { path: "contracts.router", without: "fills by the router" },
  { path: "contracts.approvalProxy", without: "fills by the approval proxy" },
  { path: "additionalData.esploraCompatibleApiUrl", without: "expired withdrawals" },
  { path: "additionalData.explorerApiUrl", without: "withdrawals with an unknown transaction" },
];

const oracleReader: ChainFileReader<AttestationChainEntry, ConfiguredChain> = {
  appliesTo: () => true,
  parse: (document) => attestationChainEntry.safeParse(document),
  need: (path) => {
    const [field, part] = path;
    const isRequiredPart = field === "additionalData" && REQUIRED_FIELDS.includes(String(part));
    if (isRequiredPart || REQUIRED_ENTRY_FIELDS.includes(String(field))) return { kind: "required" };
    const optional = OPTIONAL_FIELDS.find((candidate) => candidate.path === path.join("."));
    return optional === undefined ? { kind: "unread" } : { kind: "optional", without: optional.without };
  },
  toChain: toConfiguredChain,
  crossEntryProblems: () => [],
};

/**
 * Reads the fields that an oracle needs of each chain from `configs/chains.<ENVIRONMENT>.json`, the API's
 * file, and validates them completely. A file with only these fields is sufficient too.
 * @throws ConfigError with every problem and its path: unreadable file, unknown family, wrong values,
 * duplicates, a `required` chain whose variables are unset. No problem quotes a value, because a URL may
 * contain credentials.
 */
export function loadAttestationChains(source: ChainSource): LoadedAttestationChains {
  const { problems, invalidChains: _, ...loaded } = readAttestationChains(source);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded;
}

/**
 * Like {@link loadAttestationChains}, but returns problems of the content, for callers with further checks.
 * @throws ConfigError if the file is missing or not an array
 */
export function readAttestationChains(source: ChainSource): ChainFileResult<ConfiguredChain> {
  return readChainFile(source, oracleReader);
}
