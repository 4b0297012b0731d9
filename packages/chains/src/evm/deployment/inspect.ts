import {
  buildOf,
  matchBytecode,
  type BytecodeMismatch,
  type DeploymentPlan,
  type PlannedContract,
  type PlannedRead,
} from "@causeway/contracts/deploy";
import type { Address, PublicClient } from "viem";
import { expectedImmutables } from "./expected-immutables.ts";

/** What is at the address of a planned contract. */
export interface InspectedContract {
  readonly planned: PlannedContract;
  readonly state: "missing" | "asPlanned" | "differs";
  /** What differs, each with the found and the expected value. */
  readonly differences: readonly string[];
}

/**
 * Compares the contracts of a plan with the chain's newest block: bytecode, immutables, owners and roles.
 * @throws the client's error when the node gave no answer
 */
export async function inspectDeployment(
  client: PublicClient,
  plan: DeploymentPlan,
  chainId: number,
): Promise<readonly InspectedContract[]> {
  const all = plan.creations.flatMap(({ contracts }) => contracts);
  return await Promise.all(all.map(async (planned) => await inspect(client, planned, chainId)));
}

async function inspect(
  client: PublicClient,
  planned: PlannedContract,
  chainId: number,
): Promise<InspectedContract> {
  const code = await client.getCode({ address: planned.address });
  if (code === undefined || code === "0x") return { planned, state: "missing", differences: [] };
  const mismatch = matchBytecode(buildOf(planned.contract), expectedImmutables(planned, chainId), code);
  // Other code may answer these calls with anything.
  const differences =
    mismatch === undefined
      ? (await Promise.all(planned.reads.map((read) => differenceIn(client, planned.address, read)))).flat()
      : [mismatchText(mismatch)];
  return { planned, state: differences.length === 0 ? "asPlanned" : "differs", differences };
}

/** Why a contract at another address is not the planned one, as far as its answers show it. */
export async function readDifferences(
  client: PublicClient,
  planned: PlannedContract,
  address: Address,
): Promise<readonly string[]> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") return ["it has no code"];
  const found = await Promise.all(
    planned.reads.map((read) =>
      differenceIn(client, address, read).catch(() => [`it has no ${read.functionName}()`]),
    ),
  );
  return found.some((one) => one.length > 0) ? found.flat() : ["its code or its other arguments differ"];
}

async function differenceIn(
  client: PublicClient,
  address: Address,
  { abi, functionName, args, expected, input }: PlannedRead,
): Promise<readonly string[]> {
  const found: unknown = await client.readContract({ abi, address, functionName, args });
  const [has, wants] = [found, expected].map(comparable);
  const called = `${functionName}(${args.map(String).join(", ")})`;
  return has === wants ? [] : [`${called} is ${has}, expected ${wants} (${input})`];
}

/** Addresses in lower case, lists sorted. */
function comparable(value: unknown): string {
  const each = Array.isArray(value) ? value : [value];
  return each
    .map((one) => String(one).toLowerCase())
    .sort()
    .join(", ");
}

function mismatchText(mismatch: BytecodeMismatch): string {
  const { found, expected } = mismatch;
  if (mismatch.kind === "length") return `code has ${found} bytes, expected ${expected}`;
  const where = mismatch.kind === "byte" ? `byte ${mismatch.at} of the code` : `immutable ${mismatch.name}`;
  return `${where} is ${found}, expected ${expected}`;
}
