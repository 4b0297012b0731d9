import {
  buildOf,
  matchBytecode,
  type BytecodeMismatch,
  type DeploymentPlan,
  type PlannedContract,
  type PlannedRead,
} from "@causeway/contracts/deploy";
import type { Address, PublicClient } from "viem";
import type { DeploymentChain } from "./deployment-chain.ts";
import { expectedImmutables } from "./expected-immutables.ts";
import { otherRoleHolders, readRoleHolders } from "./role-holders.ts";

/** The result of inspecting a planned contract. */
export interface InspectedContract {
  readonly planned: PlannedContract;
  readonly state: "missing" | "asPlanned" | "differs";
  /** Differences, each with the found and the expected value. */
  readonly differences: readonly string[];
  /** Failed checks, each with the reason. */
  readonly notChecked: readonly string[];
}

type Findings = Pick<InspectedContract, "differences" | "notChecked">;

/**
 * Compares the contracts of a plan with the chain's newest block: bytecode, immutables, owners, roles, and
 * whether other accounts have roles.
 * @throws the client's error if the node does not answer
 */
export async function inspectDeployment(
  client: PublicClient,
  plan: DeploymentPlan,
  chainId: number,
): Promise<readonly InspectedContract[]> {
  const contracts = plan.creations.flatMap(({ contracts }) => contracts);
  return await Promise.all(contracts.map(async (planned) => await inspect(client, planned, chainId)));
}

async function inspect(
  client: PublicClient,
  planned: PlannedContract,
  chainId: number,
): Promise<InspectedContract> {
  const code = await client.getCode({ address: planned.address });
  if (code === undefined || code === "0x")
    return { planned, state: "missing", differences: [], notChecked: [] };
  const mismatch = matchBytecode(buildOf(planned.contract), expectedImmutables(planned, chainId), code);
  // If the code differs, the answers of the contract prove nothing.
  const findings =
    mismatch === undefined
      ? await findingsOf(client, planned)
      : { differences: [mismatchText(mismatch)], notChecked: [] };
  return { planned, state: findings.differences.length === 0 ? "asPlanned" : "differs", ...findings };
}

async function findingsOf(client: PublicClient, planned: PlannedContract): Promise<Findings> {
  const { address, reads, roleHolders } = planned;
  const differences = (await Promise.all(reads.map((read) => differenceIn(client, address, read)))).flat();
  // If the reads already found a difference, such as a missing role, the role logs would only repeat it.
  if (roleHolders === undefined || differences.length > 0) return { differences, notChecked: [] };
  const holders = await readRoleHolders(client, address, roleHolders);
  return holders === undefined
    ? {
        differences,
        notChecked: ["other accounts with roles: the endpoint does not return all RolesUpdated logs"],
      }
    : { differences: await otherRoleHolders(client, address, holders, roleHolders), notChecked: [] };
}

/**
 * Compares the contracts of a plan on each endpoint of a chain. A finding of one endpoint counts, since each
 * of them may hide a difference.
 * @throws the client's error if an endpoint does not answer
 */
export async function inspectOnEach(
  { client, others, chainId }: DeploymentChain,
  plan: DeploymentPlan,
): Promise<readonly InspectedContract[]> {
  const [first = [], ...otherInspections] = await Promise.all(
    [client, ...others].map((endpoint) => inspectDeployment(endpoint, plan, chainId)),
  );
  return first.map((contract, index) =>
    otherInspections.reduce<InspectedContract>(
      (combined, inspection) => combine(combined, inspection[index] ?? combined),
      contract,
    ),
  );
}

function combine(a: InspectedContract, b: InspectedContract): InspectedContract {
  const union = (field: keyof Findings): readonly string[] => [...new Set([...a[field], ...b[field]])];
  const states = [a.state, b.state];
  const isMissing = a.state === "missing" && b.state === "missing";
  const differences = [
    ...union("differences"),
    ...(!isMissing && states.includes("missing") ? ["an endpoint shows no code at the address"] : []),
  ];
  const state = isMissing ? "missing" : differences.length > 0 ? "differs" : "asPlanned";
  return {
    planned: a.planned,
    state,
    differences: [...new Set(differences)],
    notChecked: union("notChecked"),
  };
}

/** How a contract at another address differs from the planned contract, according to its own answers. */
export async function readDifferences(
  client: PublicClient,
  planned: PlannedContract,
  address: Address,
): Promise<readonly string[]> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") return ["it has no code"];
  const differences = await Promise.all(
    planned.reads.map((read) =>
      differenceIn(client, address, read).catch(() => [`it has no ${read.functionName}()`]),
    ),
  );
  return differences.some((difference) => difference.length > 0)
    ? differences.flat()
    : ["its code or its other arguments differ"];
}

async function differenceIn(
  client: PublicClient,
  address: Address,
  { abi, functionName, args, expected, input }: PlannedRead,
): Promise<readonly string[]> {
  const actual: unknown = await client.readContract({ abi, address, functionName, args });
  const [actualText, expectedText] = [actual, expected].map(comparable);
  const called = `${functionName}(${args.map(String).join(", ")})`;
  return actualText === expectedText
    ? []
    : [`${called} is ${actualText}, expected ${expectedText} (${input})`];
}

/** Addresses in lower case, lists sorted. */
function comparable(value: unknown): string {
  const values = Array.isArray(value) ? value : [value];
  return values
    .map((item) => String(item).toLowerCase())
    .sort()
    .join(", ");
}

function mismatchText(mismatch: BytecodeMismatch): string {
  const { found, expected } = mismatch;
  if (mismatch.kind === "length") return `code has ${found} bytes, expected ${expected}`;
  const location =
    mismatch.kind === "byte" ? `byte ${mismatch.at} of the code` : `immutable ${mismatch.name}`;
  return `${location} is ${found}, expected ${expected}`;
}
