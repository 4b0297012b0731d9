import {
  ConfigError,
  isLocalKey,
  readSettings,
  withVaultSecrets,
  type ConfigLocation,
  type Env,
} from "@causeway/config";
import { DEPLOYABLE_VM_TYPE, DeploymentUnfinished } from "@causeway/chains/deployment";
import { PROGRAM_VM_TYPE, programDeployer, ProgramUnfinished } from "@causeway/chains/solana-deployment";
import { isContractName, standardJsonInput } from "@causeway/contracts/deploy";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { deploySettings, locationSettings } from "../../config/settings.ts";
import { plannedFields, type EntryTarget } from "../deployment/chain-entries.ts";
import { parseDeployArguments, readInputs, type DeployArguments } from "../deployment/deploy-inputs.ts";
import { readChainEntries, readTargets, type NamedEntry } from "../deployment/deploy-target.ts";
import { readProgramInputs, refuseDeployerRoles } from "../deployment/program-inputs.ts";
import { programTarget } from "../deployment/program-target.ts";
import { applyDeployment, planDeployment, verifyDeployment } from "../deployment/run-deployment.ts";
import {
  applyProgramDeployment,
  planProgramDeployment,
  verifyProgramDeployment,
} from "../deployment/run-program.ts";
import { DONE, FAILED, printLine, runCommand, UsageError } from "./run-command.ts";

export const DEPLOY_USAGE = `  operator deploy plan|apply|verify --owner <address> --allocator <address> [--chain <id>]… [--hub]
                    [--solver <address>] [--deposit-address-operator <address>] [--oracle <address>]… [--threshold <number>]
                              plan: prints the contracts with address, constructor arguments, owner, roles and cost; sends nothing
                              apply: deploys the contracts that are missing, and compares them with the plan. Run it again after an interruption
                              verify: compares bytecode, immutables, owners, roles and configured addresses with the plan on every endpoint, and looks for other accounts with roles
                              --chain: id of an EVM chain of the chain file (repeatable); requires --solver. Or of a Solana chain, see below
                              --hub: the contracts of the hub; requires --oracle (repeatable) and --threshold
                              --owner: a contract, such as a multisignature wallet; for an account, add --owner-is-account
                              --owner-may-differ: allows --owner to have different code on the chains
                              --deposit-address-operator: without it, no DepositAddressFactory
                              --max-fee-gwei: highest gas price (default: 100)
                              --confirmations: blocks until a contract counts as deployed (default: 5)
                              --wait: seconds for each chain (default: 600)
                              --write: folder whose chain files get the addresses, such as configs; without it, apply prints variables
                              --replace: deploys contracts that replace the configured ones; --write then lists those as former
                              exit code 0: done; 1: refused, failed, or verify found a difference; 2: invalid options; 3: time is up, run it again
                              reads ENVIRONMENT, CONFIGS_DIR, the RPC URLs and, for the deployer, DEPLOYER_PRIVATE_KEY
  operator deploy plan|apply|verify --chain <id of a Solana chain> --owner <address>|none --allocator <address>
                    [--deployer <address>] [--program <address>]
                              the depository program, with the same actions and exit codes; accounts are in base58
                              plan needs the deployer's key too, because the program's address follows from it
                              --owner: final upgrade authority, and the owner that the depository records, such as the vault of a multisignature wallet; none: no one, and the program can never change. For an account with a key, add --owner-is-account
                              --owner-may-be-new: allows an --owner without an account on the chain
                              --deployer: account of DEPLOYER_SOLANA_KEY; with it, the configured program or --program can be verified without the key
                              --program: a program that was deployed by other means, to initialize or verify it
                              --max-compute-price: highest price of a compute unit in micro-lamports (default: 1000000)
                              also --wait, --write and --replace
  operator deploy plan|apply|verify --chain <id of a Solana chain> --deposit-addresses [--deployer <address>] [--program <address>]
                              the program of deposit addresses instead; no account can upgrade it
  operator deploy standard-json <contract>
                              prints the standard JSON input of solc, for source verification on block explorers
`;

const UNFINISHED = 3;

/**
 * `operator deploy`: prints a JSON line per contract and step. Never throws: the exit code is the outcome.
 */
export async function runDeploy(args: readonly string[], processEnv: Env): Promise<number> {
  return await runCommand(
    DEPLOY_USAGE,
    async () =>
      args[0] === "standard-json"
        ? printStandardJson(args.slice(1))
        : await carryOut(parseDeployArguments(args), withVaultSecrets(processEnv)),
    (error) =>
      error instanceof DeploymentUnfinished || error instanceof ProgramUnfinished ? UNFINISHED : FAILED,
  );
}

type Deploy = (
  args: DeployArguments,
  entries: readonly NamedEntry[],
  location: ConfigLocation,
  env: Env,
) => Promise<boolean>;

/** Deployment per chain family; the hub is an EVM chain. */
const DEPLOYS: ReadonlyMap<string, Deploy> = new Map([
  [DEPLOYABLE_VM_TYPE, deployContracts],
  [PROGRAM_VM_TYPE, deployPrograms],
]);

async function carryOut(args: DeployArguments, env: Env): Promise<number> {
  const location = readSettings(locationSettings, env);
  const entries = readChainEntries(args.chains, location);
  const kinds = [...new Set(entries.map(({ vmType }) => vmType ?? ""))];
  for (const { name, vmType = "unknown" } of entries)
    if (!DEPLOYS.has(vmType))
      throw new UsageError(
        `--chain: ${name} is a ${vmType} chain; only ${[...DEPLOYS.keys()].join(" and ")} are supported`,
      );
  if (kinds.length > 1) throw new UsageError(`--chain: chains of ${kinds.join(" and ")} need a command each`);
  const deploy = DEPLOYS.get(kinds[0] ?? DEPLOYABLE_VM_TYPE) ?? deployContracts;
  return (await deploy(args, entries, location, env)) ? DONE : FAILED;
}

async function deployContracts(
  args: DeployArguments,
  _: readonly NamedEntry[],
  { environment, configsDir }: ConfigLocation,
  env: Env,
): Promise<boolean> {
  const inputs = readInputs(args);
  const targets = readTargets(inputs, { environment, configsDir }, env);
  const key = keyOf("deployerPrivateKey", environment, env);
  const account = key === undefined ? undefined : privateKeyToAccount(key);
  if (inputs.action === "verify") return await verifyDeployment(targets, printLine);
  if (inputs.action === "plan") {
    await planDeployment(targets, inputs, account, printLine);
    return true;
  }
  if (account === undefined) throw new ConfigError(["DEPLOYER_PRIVATE_KEY is required to deploy"]);
  await applyDeployment(targets, inputs, account, printLine);
  if (inputs.write === undefined) printVariables(targets);
  return true;
}

async function deployPrograms(
  args: DeployArguments,
  entries: readonly NamedEntry[],
  { environment }: ConfigLocation,
  env: Env,
): Promise<boolean> {
  const inputs = readProgramInputs(args);
  const key = keyOf("deployerSolanaKey", environment, env);
  const deployer = key === undefined ? undefined : await programDeployer(key);
  const address = inputs.deployer ?? deployer?.address;
  if (address === undefined)
    throw new ConfigError([
      "DEPLOYER_SOLANA_KEY or --deployer is required: the deployer pays, and has the authority until the last step",
    ]);
  if (deployer !== undefined && deployer.address !== address)
    throw new UsageError(`--deployer is ${address}, and DEPLOYER_SOLANA_KEY belongs to ${deployer.address}`);
  refuseDeployerRoles(address, inputs);
  const targets = await Promise.all(
    entries.map(async (entry) => await programTarget(entry, inputs, { address, key: deployer }, env)),
  );
  let isAsPlanned = true;
  for (const target of targets)
    if (inputs.action === "verify")
      isAsPlanned = (await verifyProgramDeployment(target, printLine)) && isAsPlanned;
    else if (inputs.action === "plan") await planProgramDeployment(target, inputs, deployer, printLine);
    else if (deployer === undefined) throw new ConfigError(["DEPLOYER_SOLANA_KEY is required to deploy"]);
    else {
      await applyProgramDeployment(target, inputs, deployer, printLine);
      if (inputs.write === undefined) printVariables([target]);
    }
  return isAsPlanned;
}

/** @throws ConfigError if the key is publicly known */
function keyOf(setting: keyof typeof deploySettings, environment: string, env: Env): Hex | undefined {
  const key = readSettings(deploySettings, env)[setting]?.reveal();
  if (key !== undefined && environment !== "local" && isLocalKey(key))
    throw new ConfigError([
      `${deploySettings[setting].name} is a publicly known key of local systems and not allowed in ENVIRONMENT ${environment}`,
    ]);
  return key as Hex | undefined;
}

/** Prints variables for the environment of the service, and fields without a variable by their paths. */
function printVariables(targets: readonly EntryTarget[]): void {
  for (const target of targets)
    for (const { path, planned, variable } of plannedFields(target))
      process.stdout.write(
        variable === undefined
          ? `# ${target.fileName}, ${target.name}: ${path.join(".")} = ${planned}\n`
          : `${variable}=${planned}\n`,
      );
}

function printStandardJson([contract = "", ...more]: readonly string[]): number {
  if (more.length > 0 || !isContractName(contract))
    throw new UsageError(
      `standard-json expects the name of one contract, such as Depository, got ${contract || "nothing"}`,
    );
  process.stdout.write(`${JSON.stringify(standardJsonInput(contract))}\n`);
  return DONE;
}
