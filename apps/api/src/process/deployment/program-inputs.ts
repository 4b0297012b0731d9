import { canHaveKey, isSolanaAddress } from "@causeway/chains/solana-deployment";
import { UsageError } from "../commands/run-command.ts";
import { parseWaitSeconds, type DeployAction, type DeployArguments } from "./deploy-inputs.ts";

/** The options of `operator deploy` for a program on Solana. Accounts are in base58. */
export interface ProgramDeployInputs {
  readonly action: DeployAction;
  /** Undefined: the program of deposit addresses is deployed instead. */
  readonly depository: DepositoryOptions | undefined;
  /** Undefined: the account of the deployer's key. */
  readonly deployer: string | undefined;
  /** An existing program; undefined: the program is at the address of the plan. */
  readonly program: string | undefined;
  /** Maximum price of a compute unit, in millionths of a lamport. */
  readonly maxComputePrice: bigint;
  readonly waitSeconds: number;
  /** Folder of configuration files. */
  readonly write: string | undefined;
  readonly canReplace: boolean;
}

interface DepositoryOptions {
  /** Final upgrade authority, and the owner that the depository records; undefined: none. */
  readonly owner: string | undefined;
  /** Whether the owner's account may be missing on the chain. */
  readonly canOwnerBeNew: boolean;
  readonly allocator: string;
}

const EVM_ONLY = [
  "solver",
  "deposit-address-operator",
  "oracle",
  "threshold",
  "max-fee-gwei",
  "confirmations",
] as const;

/** @throws UsageError */
export function readProgramInputs({ action, values }: DeployArguments): ProgramDeployInputs {
  if (values.hub) throw new UsageError("--hub: deploy the hub and EVM chains with a command of their own");
  for (const name of EVM_ONLY)
    if (values[name] !== undefined) throw new UsageError(`--${name} applies only to EVM chains and the hub`);
  return {
    action,
    depository: values["deposit-addresses"] ? noDepository(values) : depositoryOptions(values),
    deployer: optionalAccount(values.deployer, "--deployer"),
    program: optionalAccount(values.program, "--program"),
    maxComputePrice: parseMaxPrice(values["max-compute-price"] ?? "1000000"),
    waitSeconds: parseWaitSeconds(values.wait),
    write: values.write,
    canReplace: values.replace,
  };
}

/** Refuses role options: the program of deposit addresses has no roles. @throws UsageError */
function noDepository(values: DeployArguments["values"]): undefined {
  for (const name of ["owner", "owner-is-account", "owner-may-be-new", "allocator"] as const)
    if (values[name] !== undefined && values[name] !== false)
      throw new UsageError(`--${name} does not apply to --deposit-addresses: no account has a role there`);
}

/** @throws UsageError */
function depositoryOptions(values: DeployArguments["values"]): DepositoryOptions {
  const owner =
    values.owner === "none" ? undefined : requireAccount(values.owner ?? "", "--owner", " or none");
  const allocator = requireAccount(values.allocator ?? "", "--allocator");
  if (!canHaveKey(allocator))
    throw new UsageError(`--allocator: ${allocator} has no private key, so it could never sign a payout`);
  if (owner !== undefined && canHaveKey(owner) && !values["owner-is-account"])
    throw new UsageError(
      `--owner: ${owner} is an account with a private key, expected the vault of a multisignature wallet (Squads: its vault, not the multisig account); if you hold the key, add --owner-is-account`,
    );
  if (owner === allocator) throw new UsageError("--owner and --allocator must be different accounts");
  return { owner, canOwnerBeNew: values["owner-may-be-new"] ?? false, allocator };
}

/** The deployer must hold no other role. @throws UsageError */
export function refuseDeployerRoles(
  deployer: string,
  { depository }: Pick<ProgramDeployInputs, "depository">,
): void {
  if (depository?.owner === deployer)
    throw new UsageError("--owner and the deployer must be different accounts");
  if (depository?.allocator === deployer)
    throw new UsageError("--allocator and the deployer must be different accounts");
}

function optionalAccount(argument: string | undefined, option: string): string | undefined {
  return argument === undefined ? undefined : requireAccount(argument, option);
}

function requireAccount(argument: string, option: string, alternative = ""): string {
  if (!isSolanaAddress(argument) || argument === "1".repeat(32))
    throw new UsageError(
      `${option} must be a base58 address of 32 bytes, not zero${alternative}, got ${argument}`,
    );
  return argument;
}

function parseMaxPrice(argument: string): bigint {
  if (!/^[1-9]\d{0,11}$/.test(argument))
    throw new UsageError(
      `--max-compute-price must be a whole number of micro-lamports from 1 to 999999999999, got ${argument}`,
    );
  return BigInt(argument);
}
