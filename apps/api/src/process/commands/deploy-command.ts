import { ConfigError, isLocalKey, readSettings, withVaultSecrets, type Env } from "@causeway/config";
import { DeploymentUnfinished } from "@causeway/chains/deployment";
import { isContractName, standardJsonInput } from "@causeway/contracts/deploy";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { deploySettings, locationSettings } from "../../config/settings.ts";
import { plannedFields } from "../deployment/chain-entries.ts";
import { readInputs, type DeployInputs } from "../deployment/deploy-inputs.ts";
import { readTargets, type DeployTarget } from "../deployment/deploy-target.ts";
import { applyDeployment, planDeployment, verifyDeployment } from "../deployment/run-deployment.ts";
import { DONE, FAILED, Misused, printLine, runCommand } from "./run-command.ts";

export const DEPLOY_USAGE = `  operator deploy plan|apply|verify --owner <address> --allocator <address> [--chain <id>]… [--hub]
                    [--solver <address>] [--deposit-address-operator <address>] [--oracle <address>]… [--threshold <number>]
                              plan: prints the contracts with address, constructor arguments, owner, roles and cost; sends nothing
                              apply: deploys the contracts that are missing, and compares them with the plan. Run it again after an interruption
                              verify: compares bytecode, immutables, owners and roles with the plan on every endpoint, looks for other accounts with roles, and the configured addresses with both
                              --chain: id of an EVM chain of the chain file (repeatable); requires --solver
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
  operator deploy standard-json <contract>
                              prints the standard JSON input of solc, for source verification on block explorers
`;

const UNFINISHED = 3;

/**
 * `operator deploy`: prints a JSON line per contract and step. Never throws: the exit code is the outcome.
 */
export async function runDeploy(words: readonly string[], processEnv: Env): Promise<number> {
  return await runCommand(
    DEPLOY_USAGE,
    async () =>
      words[0] === "standard-json"
        ? printStandardJson(words.slice(1))
        : await carryOut(readInputs(words), withVaultSecrets(processEnv)),
    (error) => (error instanceof DeploymentUnfinished ? UNFINISHED : FAILED),
  );
}

async function carryOut(inputs: DeployInputs, env: Env): Promise<number> {
  const { environment, configsDir } = readSettings(locationSettings, env);
  const targets = readTargets(inputs, { environment, configsDir }, env);
  const account = deployerOf(environment, env);
  if (inputs.action === "verify") return (await verifyDeployment(targets, printLine)) ? DONE : FAILED;
  if (inputs.action === "plan") {
    await planDeployment(targets, inputs, account, printLine);
    return DONE;
  }
  if (account === undefined) throw new ConfigError(["DEPLOYER_PRIVATE_KEY is required to deploy"]);
  await applyDeployment(targets, inputs, account, printLine);
  if (inputs.write === undefined) printVariables(targets);
  return DONE;
}

function deployerOf(environment: string, env: Env): LocalAccount | undefined {
  const { deployerPrivateKey } = readSettings(deploySettings, env);
  if (deployerPrivateKey === undefined) return undefined;
  const key = deployerPrivateKey.reveal();
  if (environment !== "local" && isLocalKey(key))
    throw new ConfigError([
      `DEPLOYER_PRIVATE_KEY is a publicly known key of local systems and not allowed in ENVIRONMENT ${environment}`,
    ]);
  return privateKeyToAccount(key as `0x${string}`);
}

/** For the environment of the service; a field that takes no variable is printed by its path. */
function printVariables(targets: readonly DeployTarget[]): void {
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
    throw new Misused(
      `standard-json expects the name of one contract, such as Depository, got ${contract || "nothing"}`,
    );
  process.stdout.write(`${JSON.stringify(standardJsonInput(contract))}\n`);
  return DONE;
}
