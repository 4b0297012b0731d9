import {
  connectForProgram,
  deployProgram,
  feeOf,
  readProgramState,
  remainingDifferences,
  type Payer,
  type ProgramState,
} from "@causeway/chains/solana-deployment";
import { isReplaced, plannedFields, requireWritable, writeEntry } from "./chain-entries.ts";
import { DeploymentRefused } from "./prepare-deployment.ts";
import type { ProgramDeployInputs } from "./program-inputs.ts";
import {
  prepareProgram,
  programProblems,
  sol,
  type PreparedProgram,
  type ProgramTarget,
} from "./program-target.ts";
import type { Print } from "./run-deployment.ts";

/**
 * Prints the state on the chain, the remaining transactions, and their cost. Sends nothing.
 * @throws DeploymentRefused
 */
export async function planProgramDeployment(
  target: ProgramTarget,
  inputs: ProgramDeployInputs,
  deployer: Payer | undefined,
  print: Print,
): Promise<void> {
  await withPrepared(target, inputs, deployer, print, async () => undefined);
}

/**
 * Sends the missing transactions, waits until they are final, compares everything with the plan, and writes
 * the entry.
 * @throws DeploymentRefused before anything is sent; ProgramUnfinished if the time is up
 */
export async function applyProgramDeployment(
  target: ProgramTarget,
  inputs: ProgramDeployInputs,
  deployer: Payer,
  print: Print,
): Promise<void> {
  const { write } = inputs;
  const { name: chain, plan, fileName } = target;
  if (write !== undefined) requireWritable(write, fileName);
  await withPrepared(target, inputs, deployer, print, async (prepared) => {
    await deployProgram(prepared.chain, plan, {
      payer: deployer,
      price: prepared.price,
      waitMs: inputs.waitSeconds * 1000,
      nowMs: () => performance.now(),
      onBroadcast: ({ label }, signature) =>
        print({ chain, step: "broadcast", transaction: label, signature }),
    });
    print({ chain, step: "deployed", program: plan.program });
    if (write !== undefined) writeEntry(write, target);
    print({ chain, step: "done", ...(write !== undefined && { written: fileName }) });
  });
}

/**
 * Compares the program on every endpoint with its build and with the plan, and the configuration with both.
 * @returns whether everything is deployed as planned
 */
export async function verifyProgramDeployment(target: ProgramTarget, print: Print): Promise<boolean> {
  const { plan, name } = target;
  const chain = await connectForProgram(target.rpcUrls, target.genesisHash);
  try {
    const states = await Promise.all(
      chain.allReads.map((reads) => readProgramState(reads, plan, "finalized")),
    );
    const differences = new Set(
      states.flatMap((state) => [...state.problems, ...remainingDifferences(plan, state)]),
    );
    const [state] = states;
    if (state === undefined) throw new RangeError("invariant violated: no endpoint");
    print({
      ...programLine(target, state),
      state: !state.isDeployed ? "missing" : differences.size > 0 ? "differs" : "asPlanned",
      ...(differences.size > 0 && { differences: [...differences] }),
    });
    const replaced = plannedFields(target).filter(isReplaced);
    for (const { path, configured, planned } of replaced)
      print({ chain: name, field: path.join("."), state: "differs", configured, planned });
    return differences.size === 0 && replaced.length === 0;
  } finally {
    await chain.close();
  }
}

async function withPrepared(
  target: ProgramTarget,
  inputs: ProgramDeployInputs,
  deployer: Payer | undefined,
  print: Print,
  act: (prepared: PreparedProgram) => Promise<void>,
): Promise<void> {
  const prepared = await prepareProgram(target, inputs);
  try {
    for (const line of planLines(prepared)) print(line);
    const problems = programProblems(prepared, inputs, deployer !== undefined);
    if (problems.length > 0) throw new DeploymentRefused(problems.join("\n"));
    await act(prepared);
  } finally {
    await prepared.chain.close();
  }
}

/** The plan, and in `found` the state on the chain. */
function programLine({ name, plan }: ProgramTarget, state: ProgramState): object {
  const { owner, elf, depository } = plan;
  return {
    chain: name,
    program: plan.program,
    programData: plan.programData,
    ...(depository !== undefined && {
      depository: depository.accounts.depository,
      vault: depository.accounts.vault,
    }),
    loader: "BPFLoaderUpgradeab1e11111111111111111111111",
    bytes: elf.length,
    sha256: plan.sha256,
    upgradeAuthority: owner ?? null,
    ...(depository !== undefined && {
      owner: depository.owner ?? null,
      allocator: depository.allocator,
      domain: depository.domain,
    }),
    found: {
      program: state.isDeployed,
      upgradeAuthority: state.upgradeAuthority ?? null,
      ...(depository !== undefined && { depository: state.record ?? null }),
    },
  };
}

/** The program, the accounts with their rent, the transactions by kind, and the sum. */
function planLines({ target, chain, state, rents, steps, price, cost }: PreparedProgram): readonly object[] {
  const { name, plan } = target;
  const line = { chain: name };
  const { missingChunks, isDeployed, needsInitialization, lamports } = state;
  const { depository } = plan;
  const written = missingChunks === undefined ? 0 : plan.chunks.length - missingChunks.length;
  const stateText = (exists: boolean): string => (exists ? "exists" : "missing");
  const accounts = [
    ["program", plan.program, rents.program, stateText(isDeployed)],
    ["programData", plan.programData, rents.programData, stateText(isDeployed)],
    ...(depository === undefined
      ? []
      : ([
          ["depository", depository.accounts.depository, rents.depository, stateText(!needsInitialization)],
          ["vault", depository.accounts.vault, rents.empty, stateText(lamports.vault >= rents.empty)],
        ] as const)),
  ] as const;
  const buffer = {
    ...line,
    account: "buffer",
    address: plan.buffer.address,
    rent: `${sol(rents.buffer)} SOL, returned when the program is deployed`,
    state: missingChunks === undefined ? "missing" : `${written} of ${plan.chunks.length} chunks written`,
  };
  return [
    { ...programLine(target, state), genesisHash: chain.genesisHash },
    ...(isDeployed && missingChunks === undefined ? [] : [buffer]),
    ...accounts.map(([account, address, rent, accountState]) => ({
      ...line,
      account,
      address,
      rent: `${sol(rent)} SOL`,
      state: accountState,
    })),
    ...steps.map((group) => ({
      ...line,
      transaction: group[0]?.name,
      count: group.length,
      maxFee: `${sol(group.reduce((sum, step) => sum + feeOf(step, price), 0n))} SOL`,
    })),
    {
      ...line,
      transactions: steps.flat().length,
      computePrice: `${price} micro-lamports`,
      fees: `${sol(cost.fees)} SOL`,
      rent: `${sol(cost.rent)} SOL`,
      needed: `${sol(cost.needed)} SOL`,
      deployerBalance: `${sol(state.lamports.deployer)} SOL`,
    },
  ];
}
