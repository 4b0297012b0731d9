import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Chain, NonEvmChain } from "@causeway/domain";
import type { z } from "zod";
import { ConfigError } from "./config-error.ts";
import type { ChainEntry } from "./chain-schema.ts";
import { endpointProblems, endpointUrls } from "./endpoint-quorum.ts";
import { chainEntry } from "./chain-schema.ts";
import { consistencyProblems } from "./chain-consistency.ts";
import type { Env } from "./env.ts";
import { isUnasked, resolvePlaceholders, variableAt } from "./placeholder.ts";
import type { NonEvmEntry } from "./non-evm-schema.ts";
import { attestedOnlyFamilies, nonEvmEntry, paidFamilies } from "./non-evm-schema.ts";
import { toChain } from "./to-chain.ts";
import { toNonEvmChain } from "./to-non-evm-chain.ts";

/** The content of an environment's chain file. */
export interface LoadedChains {
  /** Enabled EVM chains in the order of the file. */
  readonly chains: readonly Chain[];
  /** Enabled non-EVM chains, likewise. */
  readonly nonEvmChains: readonly NonEvmChain[];
  /** Chains that are off although some of their variables are set, and which are not. */
  readonly warnings: readonly string[];
  /** Names of chains that are disabled because none of their variables is set. */
  readonly off: readonly string[];
}

/** The same, even if parts of the file are invalid. */
export interface ReadChains extends LoadedChains {
  /** Every problem, with its path. */
  readonly problems: readonly string[];
  /** Names and chain ids of the entries that are left out because of problems. */
  readonly faulty: readonly { readonly name: unknown; readonly id: unknown }[];
}

/** Where the configuration files are, and for which environment. */
export interface ConfigLocation {
  readonly environment: string;
  readonly configsDir: string;
}

/** A chain works without these; anything else that is unset switches it off. */
const optionalFields: readonly string[] = ["wsRpcUrl", "publicWsRpcUrl", "additionalData.explorerApiUrl"];

/**
 * Reads and checks `configs/chains.<ENVIRONMENT>.json` whole, chains that are off included. Entries of
 * families that only oracles know are theirs to check.
 * @throws ConfigError with every problem and its path: unreadable file, unknown keys, wrong values,
 * duplicates, a `required` chain whose variables are unset.
 */
export function loadChains(source: ConfigLocation & { readonly env: Env }): LoadedChains {
  const { problems, faulty: _, ...loaded } = readChains(source);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded;
}

/**
 * For callers that check more: problems of the content are part of the result.
 * @throws ConfigError if the file is missing or not an array
 */
export function readChains(source: ConfigLocation & { readonly env: Env }): ReadChains {
  const fileName = `chains.${source.environment}.json`;
  const documents = readJsonFile(join(source.configsDir, fileName), fileName);
  if (!Array.isArray(documents)) throw new ConfigError([`${fileName}: must be an array of chains`]);

  const problems: string[] = [];
  const warnings: string[] = [];
  const off: string[] = [];
  const chains: Chain[] = [];
  const nonEvmChains: NonEvmChain[] = [];
  const faulty: ReadChains["faulty"][number][] = [];
  const written: (ChainEntry | NonEvmEntry)[] = [];
  for (const [index, document] of (documents as unknown[]).entries()) {
    if (attestedOnlyFamilies.includes(familyOf(document))) continue;
    const place = `${fileName}: ${placeOf(document, index)}`;
    const asWritten = check(document, place, problems);
    if (asWritten === undefined) {
      faulty.push(identityOf(document));
      problems.push(...problemsOfVariables(document, place, source.env, problems));
      continue;
    }
    written.push(asWritten);
    if (!asWritten.enabled) continue;

    const resolved = resolvePlaceholders(document, source.env);
    const missing = resolved.unset.filter(({ path }) => !optionalFields.includes(path.join(".")));
    if (missing.length > 0) {
      const variables = [...new Set(missing.map((m) => m.variable))].join(", ");
      if (asWritten.required) {
        problems.push(`${place}: required chain is missing variables: ${variables}`);
        faulty.push(identityOf(document));
      } else if (isUnasked(document, source.env)) off.push(asWritten.id);
      else warnings.push(`chain ${asWritten.id} is disabled; missing variables: ${variables}`);
      continue;
    }
    // Placeholders are replaced once, so a variable that contains another placeholder must be refused.
    for (const { path } of resolvePlaceholders(resolved.value, {}).unset)
      problems.push(
        `${place}.${path.join(".")}: variable contains another placeholder; set the value itself`,
      );
    const entry = check(resolved.value, place, problems, document);
    if (entry === undefined) faulty.push(identityOf(document));
    else if (entry.vmType === "ethereum-vm") {
      problems.push(
        ...endpointProblems(place, endpointUrls(entry.httpRpcUrl), entry.additionalData?.rpcQuorum),
      );
      chains.push(toChain(entry));
    } else nonEvmChains.push(toNonEvmChain(entry));
  }
  problems.push(...consistencyProblems(written).map((problem) => `${fileName}: ${problem}`));
  return { chains, nonEvmChains, warnings, off, problems, faulty };
}

/**
 * Reads one JSON file of the configuration.
 * @throws ConfigError when it is absent, unreadable or not JSON.
 */
export function readJsonFile(path: string, fileName: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError([`${fileName}: file is unreadable at ${path} (${code})`]);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ConfigError([`${fileName}: invalid JSON`]);
  }
}

function familyOf(document: unknown): string {
  const family =
    typeof document === "object" && document !== null && "vmType" in document ? document.vmType : undefined;
  return typeof family === "string" ? family : "";
}

/** Further problems in the variables of an entry that is invalid itself. */
function problemsOfVariables(
  document: unknown,
  place: string,
  env: Env,
  found: readonly string[],
): readonly string[] {
  const { value, unset } = resolvePlaceholders(document, env);
  const isUnset = (problem: string) => unset.some(({ variable }) => problem.includes(` (${variable})`));
  const further: string[] = [];
  check(value, place, further, document);
  return further.filter((problem) => !found.includes(problem) && !isUnset(problem));
}

function identityOf(document: unknown): ReadChains["faulty"][number] {
  const { id: name, chainId: id } = (document ?? {}) as Readonly<Record<string, unknown>>;
  return { name, id };
}

/** @param source the document with its placeholders, which problems name */
function check(
  document: unknown,
  place: string,
  problems: string[],
  source: unknown = document,
): ChainEntry | NonEvmEntry | undefined {
  const isNonEvm = (paidFamilies as readonly string[]).includes(familyOf(document));
  const result = isNonEvm ? nonEvmEntry.safeParse(document) : chainEntry.safeParse(document);
  if (result.success) return result.data;
  problems.push(
    ...result.error.issues.map(
      (issue) => `${place}${pathOf(issue)}${variableAt(source, issue.path)}: ${issue.message}`,
    ),
  );
  return undefined;
}

/** The position of an entry in a file, with its id if it has one. */
export function placeOf(document: unknown, index: number): string {
  const id = typeof document === "object" && document !== null && "id" in document ? document.id : undefined;
  return typeof id === "string" ? `[${index}] (${id})` : `[${index}]`;
}

/** The path of a schema's complaint, as one writes it: `.additionalData.rpcQuorum`. */
export function pathOf(issue: z.core.$ZodIssue): string {
  return issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
}
