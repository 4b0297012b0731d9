import type { Chain, NonEvmChain } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { attestationChainEntry } from "./attestation-schema.ts";
import { consistencyProblems } from "./chain-consistency.ts";
import {
  readChainFile,
  schemaProblems,
  type ChainSource,
  type ChainFileReader,
  type ChainFileResult,
  type LoadedChainFile,
} from "./chain-loader.ts";
import { chainEntry, type ChainEntry } from "./evm-schema.ts";
import { ConfigError } from "./config-error.ts";
import { toConfiguredChain } from "./configured-chain.ts";
import { attestedOnlyFamilies, nonEvmEntry, paidFamilies, type NonEvmEntry } from "./non-evm-schema.ts";
import { toChain } from "./to-chain.ts";
import { toNonEvmChain } from "./to-non-evm-chain.ts";

/** A non-EVM chain for the service and for attestations, both read from one entry. */
export interface NonEvmChainConfig {
  readonly chain: NonEvmChain;
  readonly attestation: ConfiguredChain;
}

/** The chains that the service loads from an environment's chain file. */
export interface LoadedChains extends Omit<LoadedChainFile<ConfiguredChain>, "chains"> {
  /** Enabled EVM chains in the order of the file. */
  readonly chains: readonly Chain[];
  /** Enabled non-EVM chains in the order of the file. */
  readonly nonEvmChains: readonly NonEvmChain[];
  /** The same non-EVM chains, with the attestation settings of their entries. */
  readonly nonEvmConfigs: readonly NonEvmChainConfig[];
}

/** The loaded chains with the problems of their file. */
export interface ReadChains
  extends LoadedChains, Pick<ChainFileResult<ConfiguredChain>, "problems" | "invalidChains"> {}

/** A chain with how the service uses it. */
interface ServedChain extends ConfiguredChain {
  readonly profile: Chain | NonEvmChain;
}

/** Optional fields. A chain with any other unset variable is disabled. */
const optionalFields: readonly string[] = [
  "wsRpcUrl",
  "publicWsRpcUrl",
  "swapAggregator.url",
  "swapAggregator.apiKey",
  "additionalData.explorerApiUrl",
];

const serviceReader: ChainFileReader<ChainEntry | NonEvmEntry, ServedChain> = {
  appliesTo: (document) => !attestedOnlyFamilies.includes(familyOf(document)),
  parse: (document) =>
    (paidFamilies as readonly string[]).includes(familyOf(document))
      ? nonEvmEntry.safeParse(document)
      : chainEntry.safeParse(document),
  need: (path) => ({ kind: optionalFields.includes(path.join(".")) ? "optional" : "required" }),
  toChain: (entry, entryPlace) => {
    // The service must recognize the same deposits as oracles, so it reads their part of the entry too.
    const attested = attestationChainEntry.safeParse(entryPlace.resolved);
    if (!attested.success) {
      entryPlace.problems.push(...schemaProblems(attested.error, entryPlace.place, entryPlace.source));
      return undefined;
    }
    const configured = toConfiguredChain(attested.data, entryPlace);
    if (configured === undefined) return undefined;
    const profile = "contracts" in entry ? toChain(entry) : toNonEvmChain(entry);
    return { ...configured, profile };
  },
  crossEntryProblems: consistencyProblems,
};

/**
 * Reads and validates all of `configs/chains.<ENVIRONMENT>.json`, including disabled chains. Skips families
 * that only oracles use.
 * @throws ConfigError with every problem and its path: unreadable file, unknown keys, invalid values,
 * duplicates, a `required` chain whose variables are unset
 */
export function loadChains(source: ChainSource): LoadedChains {
  const { problems, invalidChains: _, ...loaded } = readChains(source);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded;
}

/**
 * As {@link loadChains}, but returns problems of the content instead of throwing.
 * @throws ConfigError if the file is missing or not an array
 */
export function readChains(source: ChainSource): ReadChains {
  const { chains: served, ...file } = readChainFile(source, serviceReader);
  const chains: Chain[] = [];
  const nonEvmConfigs: NonEvmChainConfig[] = [];
  for (const { profile, ...attestation } of served)
    if (profile.vmType === "evm") chains.push(profile);
    else nonEvmConfigs.push({ chain: profile, attestation });
  return { ...file, chains, nonEvmChains: nonEvmConfigs.map(({ chain }) => chain), nonEvmConfigs };
}

function familyOf(document: unknown): string {
  const family =
    typeof document === "object" && document !== null && "vmType" in document ? document.vmType : undefined;
  return typeof family === "string" ? family : "";
}
