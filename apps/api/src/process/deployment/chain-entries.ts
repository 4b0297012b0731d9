import { readJsonFile } from "@causeway/config";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textAt, valueAt, withValueAt } from "./entry-fields.ts";

/** An entry of a configuration file, and the addresses that a plan gives it. */
export interface EntryTarget {
  /** `program`: a chain with a depository program instead of contracts. */
  readonly kind: "chain" | "hub" | "program";
  /** `id` of the entry. */
  readonly name: string;
  /** File name without folder. */
  readonly fileName: string;
  /** The entry with its placeholders. */
  readonly entry: object;
  /** The entry with placeholders resolved. */
  readonly resolved: unknown;
  readonly addresses: readonly PlannedAddress[];
}

export interface PlannedAddress {
  /** The path of the address in the entry. */
  readonly path: readonly string[];
  readonly planned: string;
}

/** A field of an entry and the address that the plan gives it. */
export interface PlannedField extends PlannedAddress {
  /** The current value in the configuration; undefined: none. */
  readonly configured: string | undefined;
  /** The variable that the entry takes the value from. Undefined: the entry contains the value. */
  readonly variable: string | undefined;
}

/** The fields of a target's entry that its plan determines. */
export function plannedFields({
  addresses,
  entry,
  resolved,
}: Pick<EntryTarget, "addresses" | "entry" | "resolved">): readonly PlannedField[] {
  return addresses.map(({ path, planned }) => {
    const written = textAt(entry, path);
    return {
      path,
      planned,
      configured: textAt(resolved, path),
      variable: written?.startsWith("$") === true ? written.slice(1) : undefined,
    };
  });
}

/** Whether the configuration contains a different address than the plan. */
export function isReplaced({ configured, planned }: PlannedField): boolean {
  return configured !== undefined && canonical(configured) !== canonical(planned);
}

/** Hex addresses are not case-sensitive; base58 addresses are. */
function canonical(address: string): string {
  return address.startsWith("0x") ? address.toLowerCase() : address;
}

/**
 * Refuses a folder that cannot be written to, before the deployment costs anything.
 * @throws Error with the file and the reason
 */
export function requireWritable(folder: string, fileName: string): void {
  const probe = join(folder, `.${fileName}.${process.pid}`);
  try {
    writeFileSync(probe, "");
    rmSync(probe);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new Error(`--write: ${join(folder, fileName)} cannot be written (${code})`, { cause: error });
  }
  readFile(folder, fileName);
}

/** Sets the addresses of a deployed chain in its file, atomically. Does not change other entries. */
export function writeEntry(folder: string, target: EntryTarget): void {
  const entries = readFile(folder, target.fileName);
  const index = entries.findIndex((candidate) => textAt(candidate, ["id"]) === target.name);
  const entry = entryWith(index < 0 ? target.entry : (entries[index] as object), target);
  const newEntries = index < 0 ? [...entries, entry] : entries.with(index, entry);
  const file = join(folder, target.fileName);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(newEntries, null, 2)}\n`);
  renameSync(draft, file);
}

/**
 * The entry with the planned addresses. Keeps replaced contracts as former ones: deposits to a former
 * depository count, and oracles attest payments through former routers.
 */
function entryWith(entry: object, target: EntryTarget): object {
  const fields = plannedFields(target);
  let result = entry;
  for (const { path, planned } of fields) result = withValueAt(result, path, planned);
  if (target.kind === "hub") return result;
  const replaced = fields.filter(isReplaced);
  const former = replaced.flatMap(({ configured = [] }) => configured);
  const depositories = replaced.flatMap(({ path, configured = [] }) =>
    path[0] === "depository" ? configured : [],
  );
  result = withMembers(result, ["additionalDepositories"], depositories);
  if (target.kind === "program") return result;
  result = withMembers(result, ["contracts", "formerContracts"], former);
  const paying = fields.filter(({ path }) => ["router", "approvalProxy"].includes(path[1] ?? ""));
  const fillContracts = ["additionalData", "fillContracts"];
  // Without the list, oracles accept only the current router and approval proxy.
  if (!paying.some(isReplaced) && listAt(result, fillContracts).length === 0) return result;
  const oldAndNew = paying.flatMap(({ configured, planned }) => [
    ...(configured === undefined ? [] : [configured]),
    planned,
  ]);
  return withMembers(result, fillContracts, oldAndNew);
}

/** The entry with the addresses added to a list, except those that the list already has. */
function withMembers(entry: object, path: readonly string[], addresses: readonly string[]): object {
  const list = listAt(entry, path);
  const present = new Set(list.map((member) => canonical(String(member))));
  const added = addresses.filter((address) => {
    const isNew = !present.has(canonical(address));
    present.add(canonical(address));
    return isNew;
  });
  return added.length === 0 ? entry : withValueAt(entry, path, [...list, ...added]);
}

function listAt(entry: object, path: readonly string[]): readonly unknown[] {
  const value = valueAt(entry, path);
  return Array.isArray(value) ? value : [];
}

function readFile(folder: string, fileName: string): readonly unknown[] {
  const file = join(folder, fileName);
  if (!existsSync(file)) return [];
  const entries = readJsonFile(file, fileName);
  if (!Array.isArray(entries)) throw new Error(`--write: ${file} must contain an array of chains`);
  return entries;
}
