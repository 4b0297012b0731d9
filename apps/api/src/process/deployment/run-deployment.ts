import {
  connectForDeployment,
  deployPlan,
  inspectOnEach,
  type InspectedContract,
} from "@causeway/chains/deployment";
import { buildOf, compilerVersion } from "@causeway/contracts/deploy";
import type { LocalAccount } from "viem";
import { isReplaced, plannedFields, requireWritable, writeEntry } from "./chain-entries.ts";
import type { DeployInputs } from "./deploy-inputs.ts";
import type { DeployTarget } from "./deploy-target.ts";
import {
  DeploymentRefused,
  ownerProblems,
  planLines,
  prepareTarget,
  problemsOf,
  type PreparedTarget,
} from "./prepare-deployment.ts";

/** Prints a line of output. */
export type Print = (line: object) => void;

/**
 * Prints the plan of every target, and its problems. Sends nothing.
 * @throws DeploymentRefused
 */
export async function planDeployment(
  targets: readonly DeployTarget[],
  inputs: DeployInputs,
  deployer: LocalAccount | undefined,
  print: Print,
): Promise<void> {
  await withPrepared(targets, inputs, deployer, print, async () => undefined);
}

/**
 * Deploys missing contracts on every target in sequence, compares everything with the plan, and writes the
 * entries.
 *
 * @throws DeploymentRefused before anything is sent; DeploymentUnfinished if the time is up
 */
export async function applyDeployment(
  targets: readonly DeployTarget[],
  inputs: DeployInputs,
  account: LocalAccount,
  print: Print,
): Promise<void> {
  const { write, maxFeeWei, confirmations, waitSeconds } = inputs;
  if (write !== undefined) for (const { fileName } of targets) requireWritable(write, fileName);
  await withPrepared(targets, inputs, account, print, async (prepared) => {
    for (const { target, chain } of prepared) {
      await deployPlan(chain, target.plan, {
        account,
        maxFeeWei,
        confirmations,
        waitMs: waitSeconds * 1000,
        nowMs: () => performance.now(),
        onStep(step) {
          if (step.step === "broadcast") print({ chain: target.name, ...step });
          else {
            const { contract, address } = step.creation;
            print({ chain: target.name, step: "deployed", contract, address });
          }
        },
      });
      refuseDifferences(target, await inspectOnEach(chain, target.plan));
      if (write !== undefined) writeEntry(write, target);
      print({ chain: target.name, step: "done", ...(write !== undefined && { written: target.fileName }) });
    }
  });
}

/**
 * Compares every target with its plan and with the configuration.
 * @returns whether everything is deployed as planned
 */
export async function verifyDeployment(targets: readonly DeployTarget[], print: Print): Promise<boolean> {
  let isAsPlanned = true;
  for (const target of targets) {
    for (const { planned, state, differences, notChecked } of await inspectTarget(target)) {
      const { contract, address, encodedArguments } = planned;
      print({
        chain: target.name,
        contract,
        address,
        state,
        ...(differences.length > 0 && { differences }),
        ...(notChecked.length > 0 && { notChecked }),
        source: `${buildOf(contract).path}:${contract}`,
        compiler: compilerVersion,
        encodedConstructorArguments: encodedArguments,
      });
      isAsPlanned &&= state === "asPlanned";
    }
    for (const field of plannedFields(target).filter(isReplaced)) {
      const { path, configured, planned } = field;
      print({ chain: target.name, field: path.join("."), state: "differs", configured, planned });
      isAsPlanned = false;
    }
  }
  return isAsPlanned;
}

/** Inspects the contracts on every endpoint of the target. */
async function inspectTarget({
  plan,
  chainId,
  rpcUrls,
}: DeployTarget): Promise<readonly InspectedContract[]> {
  const chain = connectForDeployment(chainId, rpcUrls);
  try {
    return await inspectOnEach(chain, plan);
  } finally {
    await chain.close();
  }
}

async function withPrepared(
  targets: readonly DeployTarget[],
  inputs: DeployInputs,
  deployer: LocalAccount | undefined,
  print: Print,
  act: (prepared: readonly PreparedTarget[]) => Promise<void>,
): Promise<void> {
  const prepared: PreparedTarget[] = [];
  try {
    const problems: string[] = [];
    for (const target of targets) {
      const preparedTarget = await prepareTarget(target, inputs, deployer?.address);
      prepared.push(preparedTarget);
      for (const line of planLines(preparedTarget)) print(line);
      problems.push(...(await problemsOf(preparedTarget, inputs)));
    }
    problems.push(...ownerProblems(prepared, inputs));
    if (problems.length > 0) throw new DeploymentRefused(problems.join("\n"));
    await act(prepared);
  } finally {
    await Promise.all(prepared.map(({ chain }) => chain.close()));
  }
}

function refuseDifferences({ name }: DeployTarget, inspected: readonly InspectedContract[]): void {
  const problems = inspected
    .filter(({ state }) => state !== "asPlanned")
    .map(({ planned, state, differences }) => {
      const what = state === "missing" ? "has no code" : differences.join("; ");
      return `${name}: ${planned.contract} at ${planned.address}: ${what}`;
    });
  if (problems.length > 0) throw new DeploymentRefused(problems.join("\n"));
}
