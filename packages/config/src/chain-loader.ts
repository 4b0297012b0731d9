import { join } from "node:path";
import type { ConfiguredChain } from "@causeway/families";
import type { z } from "zod";
import { ConfigError } from "./config-error.ts";
import type { Env } from "./env.ts";
import { pathOf, readJsonFile, type ConfigLocation } from "./json-file.ts";
import { isUnconfigured, resolvePlaceholders, variableAt } from "./placeholder.ts";
import { duplicatesIn } from "./duplicates.ts";
import { sameChainProblems } from "./same-chain.ts";

/** Where `chains.<ENVIRONMENT>.json` is, and the variables that it names. */
export interface ChainSource extends ConfigLocation {
  readonly env: Env;
}

/** The chains that a process loads from an environment's chain file. */
export interface LoadedChainFile<C extends ConfiguredChain> {
  /** Enabled chains in the order of the file. */
  readonly chains: readonly C[];
  /** Partly configured (therefore disabled) chains and unavailable attestations, with missing variables. */
  readonly warnings: readonly string[];
  /** Names of chains that are disabled because none of their variables is set. */
  readonly unconfiguredChains: readonly string[];
}

/** A loaded file with its problems. */
export interface ChainFileResult<C extends ConfiguredChain> extends LoadedChainFile<C> {
  /** Every problem, with its path. */
  readonly problems: readonly string[];
  /** Names and chain ids of the entries that are left out because of problems. */
  readonly invalidChains: readonly { readonly name: unknown; readonly id: unknown }[];
}

/** How one kind of process reads the chain file. */
export interface ChainFileReader<Entry extends WrittenEntry, C extends ConfiguredChain> {
  /** Whether the process uses an entry; others are skipped. */
  readonly appliesTo: (document: unknown) => boolean;
  /** Validates an entry. Called twice: as written, and with its placeholders replaced. */
  readonly parse: (document: unknown) => ParsedEntry<Entry>;
  /** What an unset variable at `path` of an entry means. */
  readonly need: (path: readonly (string | number)[]) => FieldNeed;
  /** The chain of an entry without placeholders; undefined if a problem was added. */
  readonly toChain: (entry: Entry, place: EntryPlace) => C | undefined;
  /** Problems between valid entries, including disabled ones. */
  readonly crossEntryProblems: (written: readonly Entry[]) => readonly string[];
}

/** `required`: the chain is disabled without it. `unread`: the process does not read this field. */
export type FieldNeed =
  | { readonly kind: "required" | "unread" }
  /** `without`: what is not attested while the variable is unset, for the warning. */
  | { readonly kind: "optional"; readonly without?: string };

/** The result of validating an entry. */
export type ParsedEntry<Entry> =
  | { readonly success: true; readonly data: Entry }
  | { readonly success: false; readonly error: { readonly issues: readonly z.core.$ZodIssue[] } };

/** The fields that every reader uses. */
export interface WrittenEntry {
  readonly id: string;
  readonly enabled: boolean;
  readonly required: boolean;
}

/** One entry of the file, and where its problems are reported. */
export interface EntryPlace {
  /** The entry to validate: as written, or with its placeholders replaced. */
  readonly resolved: unknown;
  /** The entry with its placeholders, for problems that name a variable. */
  readonly source: unknown;
  /** Prefix of every problem of this entry. */
  readonly place: string;
  readonly problems: string[];
}

/**
 * Reads the chain file. Problems of its content are part of the result.
 * @throws ConfigError if the file is missing or not an array
 */
export function readChainFile<Entry extends WrittenEntry, C extends ConfiguredChain>(
  { environment, configsDir, env }: ChainSource,
  reader: ChainFileReader<Entry, C>,
): ChainFileResult<C> {
  const fileName = `chains.${environment}.json`;
  const documents = readJsonFile(join(configsDir, fileName), fileName);
  if (!Array.isArray(documents)) throw new ConfigError([`${fileName}: must be an array of chains`]);
  const file = {
    chains: [] as C[],
    warnings: [] as string[],
    unconfiguredChains: [] as string[],
    problems: [] as string[],
  };
  const { chains, problems } = file;
  const invalidChains: ChainFileResult<C>["invalidChains"][number][] = [];
  const written: Entry[] = [];
  for (const [index, source] of (documents as unknown[]).entries()) {
    if (!reader.appliesTo(source)) continue;
    const asWritten: EntryPlace = {
      resolved: source,
      source,
      place: `${fileName}: ${placeOf(source, index)}`,
      problems,
    };
    const entry = check(reader, asWritten);
    if (entry === undefined) {
      problems.push(...furtherVariableProblems(reader, asWritten, env));
      invalidChains.push(identityOf(source));
      continue;
    }
    written.push(entry);
    if (!entry.enabled) continue;
    const resolved = resolveEntry(reader, entry, asWritten, env, file);
    if (resolved === "disabled") continue;
    const chain =
      resolved === "invalid" ? undefined : chainOf(reader, { ...asWritten, resolved: resolved.value });
    if (chain === undefined) invalidChains.push(identityOf(source));
    else chains.push(chain);
  }
  const crossEntry = [
    ...duplicatesIn(written.map(({ id }) => id)).map((id) => `duplicate id ${id}`),
    ...reader.crossEntryProblems(written),
    ...duplicateHubIds(chains),
    ...sameChainProblems(chains),
  ];
  problems.push(...crossEntry.map((problem) => `${fileName}: ${problem}`));
  return { ...file, invalidChains };
}

/** The entry with its placeholders replaced; "disabled" or "invalid" if a variable that it needs is unset. */
function resolveEntry<Entry extends WrittenEntry, C extends ConfiguredChain>(
  reader: ChainFileReader<Entry, C>,
  { id, required }: Entry,
  { source, place }: EntryPlace,
  env: Env,
  file: { readonly warnings: string[]; readonly unconfiguredChains: string[]; readonly problems: string[] },
): { readonly value: unknown } | "disabled" | "invalid" {
  const { value, unset } = resolvePlaceholders(source, env);
  const missing = unset.filter(({ path }) => reader.need(path).kind === "required");
  if (missing.length > 0) {
    const variables = [...new Set(missing.map(({ variable }) => variable))].join(", ");
    if (required) {
      file.problems.push(`${place}: required chain is missing variables: ${variables}`);
      return "invalid";
    }
    if (isUnconfigured(source, env)) file.unconfiguredChains.push(id);
    else file.warnings.push(`chain ${id} is disabled; missing variables: ${variables}`);
    return "disabled";
  }
  for (const { path, variable } of unset) {
    const need = reader.need(path);
    if (need.kind === "optional" && need.without !== undefined)
      file.warnings.push(`chain ${id}: ${need.without} are not attested; missing variable: ${variable}`);
  }
  // Placeholders are replaced once, so a variable that contains another placeholder must be refused.
  for (const { path } of resolvePlaceholders(value, {}).unset)
    if (reader.need(path).kind !== "unread")
      file.problems.push(
        `${place}.${path.join(".")}: variable contains another placeholder; set the value itself`,
      );
  return { value };
}

function chainOf<Entry extends WrittenEntry, C extends ConfiguredChain>(
  reader: ChainFileReader<Entry, C>,
  place: EntryPlace,
): C | undefined {
  const entry = check(reader, place);
  return entry === undefined ? undefined : reader.toChain(entry, place);
}

function check<Entry extends WrittenEntry>(
  { parse }: Pick<ChainFileReader<Entry, never>, "parse">,
  { resolved, source, place, problems }: EntryPlace,
): Entry | undefined {
  const result = parse(resolved);
  if (result.success) return result.data;
  problems.push(...schemaProblems(result.error, place, source));
  return undefined;
}

/** The schema's issues with an entry, each with the path and the variable of its field. */
export function schemaProblems(
  { issues }: { readonly issues: readonly z.core.$ZodIssue[] },
  place: string,
  source: unknown,
): readonly string[] {
  return issues.map((issue) => `${place}${pathOf(issue)}${variableAt(source, issue.path)}: ${issue.message}`);
}

/** Problems that appear only once the placeholders of an invalid entry are replaced. */
function furtherVariableProblems<Entry extends WrittenEntry>(
  reader: Pick<ChainFileReader<Entry, never>, "parse">,
  { source, place, problems: knownProblems }: EntryPlace,
  env: Env,
): readonly string[] {
  const { value, unset } = resolvePlaceholders(source, env);
  const isUnset = (problem: string) => unset.some(({ variable }) => problem.includes(` (${variable})`));
  const problems: string[] = [];
  check(reader, { resolved: value, source, place, problems });
  return problems.filter((problem) => !knownProblems.includes(problem) && !isUnset(problem));
}

/** Hub chain ids must be unique: oracles identify chains by them. */
function duplicateHubIds(chains: readonly ConfiguredChain[]): readonly string[] {
  const seen = new Set<string>();
  return chains.flatMap(({ name, hubChainId }) => {
    if (seen.has(hubChainId)) return [`duplicate hubChainId ${hubChainId} (chain ${name})`];
    seen.add(hubChainId);
    return [];
  });
}

function identityOf(document: unknown): ChainFileResult<ConfiguredChain>["invalidChains"][number] {
  const { id: name, chainId: id } = (document ?? {}) as Readonly<Record<string, unknown>>;
  return { name, id };
}

/** The position of an entry in a file, with its id if it has one. */
function placeOf(document: unknown, index: number): string {
  const id = typeof document === "object" && document !== null && "id" in document ? document.id : undefined;
  return typeof id === "string" ? `[${index}] (${id})` : `[${index}]`;
}
