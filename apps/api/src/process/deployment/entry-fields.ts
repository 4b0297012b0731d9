import { plannedAddress, type ContractName, type DeploymentPlan } from "@causeway/contracts/deploy";

/** The path of a contract's address in the entry of a chain or of the hub. */
interface EntryField {
  readonly contract: ContractName;
  readonly path: readonly string[];
}

export const CHAIN_FIELDS: readonly EntryField[] = [
  { contract: "Depository", path: ["depository"] },
  { contract: "Router", path: ["contracts", "router"] },
  { contract: "ApprovalProxy", path: ["contracts", "approvalProxy"] },
  { contract: "Receiver", path: ["contracts", "serviceReceiver"] },
  { contract: "Multicall3", path: ["contracts", "multicall3"] },
  { contract: "DepositAddressFactory", path: ["contracts", "depositAddressFactory"] },
];

export const HUB_FIELDS: readonly EntryField[] = [
  { contract: "Hub", path: ["hubAddress"] },
  { contract: "Oracle", path: ["oracleAddress"] },
  { contract: "OracleMultisig", path: ["oracleMultisigAddress"] },
  { contract: "Allocator", path: ["allocatorAddress"] },
  { contract: "GenericMapping", path: ["genericMappingAddress"] },
];

/** The paths of a plan's contracts in an entry, with their planned addresses. */
export function addressesOf(
  plan: DeploymentPlan,
  fields: readonly EntryField[],
): readonly { readonly path: readonly string[]; readonly planned: string }[] {
  const planned = new Set(
    plan.creations.flatMap(({ contracts }) => contracts.map(({ contract }) => contract)),
  );
  return fields
    .filter(({ contract }) => planned.has(contract))
    .map(({ contract, path }) => ({ path, planned: plannedAddress(plan, contract) }));
}

/** The value at a path of a document; undefined if there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const key of path)
    value = isObject(value) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
  return value;
}

/** The text at a path of a document; undefined if there is none. */
export function textAt(document: unknown, path: readonly string[]): string | undefined {
  const value = valueAt(document, path);
  return typeof value === "string" ? value : undefined;
}

/** The document with another value at a path; missing parents are created. */
export function withValueAt(
  document: object,
  [key = "", ...rest]: readonly string[],
  value: unknown,
): object {
  if (rest.length === 0) return { ...document, [key]: value };
  const inner = valueAt(document, [key]);
  return { ...document, [key]: withValueAt(isObject(inner) ? inner : {}, rest, value) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
