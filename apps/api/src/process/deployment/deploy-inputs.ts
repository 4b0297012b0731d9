import { hasWrongChecksum, parseAddress } from "@causeway/domain";
import { getAddress, parseGwei, zeroAddress, type Address } from "viem";
import { commandLine, UsageError } from "../commands/run-command.ts";

export type DeployAction = "plan" | "apply" | "verify";

/** The options of `operator deploy` for EVM chains and the hub. */
export interface DeployInputs {
  readonly action: DeployAction;
  readonly chains: readonly string[];
  readonly includesHub: boolean;
  readonly owner: Address;
  readonly isOwnerAccount: boolean;
  readonly canOwnerDiffer: boolean;
  readonly allocator: Address;
  readonly solver: Address | undefined;
  readonly depositAddressOperator: Address | undefined;
  readonly oracles: readonly Address[];
  readonly threshold: number | undefined;
  readonly maxFeeWei: bigint;
  readonly confirmations: number;
  readonly waitSeconds: number;
  /** Folder of configuration files. */
  readonly write: string | undefined;
  readonly canReplace: boolean;
}

const text = { type: "string" } as const;
const list = { type: "string", multiple: true } as const;
const flag = { type: "boolean", default: false } as const;
/** Options that apply only to Solana programs. */
export const PROGRAM_OPTIONS = {
  deployer: text,
  program: text,
  "max-compute-price": text,
  "owner-may-be-new": { type: "boolean" },
  "deposit-addresses": { type: "boolean" },
} as const;
const OPTIONS = {
  chain: list,
  hub: flag,
  owner: text,
  "owner-is-account": flag,
  "owner-may-differ": flag,
  allocator: text,
  solver: text,
  "deposit-address-operator": text,
  oracle: list,
  threshold: text,
  "max-fee-gwei": text,
  confirmations: text,
  wait: { ...text, default: "600" },
  write: text,
  replace: flag,
  ...PROGRAM_OPTIONS,
} as const;

/** Parsed options; their meaning depends on the chain family. */
export interface DeployArguments {
  readonly action: DeployAction;
  /** Names or ids of chains. */
  readonly chains: readonly string[];
  readonly values: OptionValues;
}

type OptionValues = ReturnType<typeof commandLine<{ readonly options: typeof OPTIONS }>>["values"];

/** @throws UsageError */
export function parseDeployArguments(argv: readonly string[]): DeployArguments {
  const [action, ...args] = argv;
  if (action !== "plan" && action !== "apply" && action !== "verify")
    throw new UsageError(`expected plan, apply or verify, got ${action ?? "nothing"}`);
  const { values } = commandLine({ args, options: OPTIONS });
  const chains = [...new Set(values.chain ?? [])];
  if (chains.length === 0 && !values.hub) throw new UsageError("--chain or --hub is required");
  if (!values["deposit-addresses"] && (values.owner === undefined || values.allocator === undefined))
    throw new UsageError("--owner and --allocator are required");
  return { action, chains, values };
}

/** @throws UsageError */
export function readInputs({ action, chains, values }: DeployArguments): DeployInputs {
  for (const name of Object.keys(PROGRAM_OPTIONS))
    if (Object.hasOwn(values, name)) throw new UsageError(`--${name} applies only to Solana programs`);
  const oracles = (values.oracle ?? []).map((oracle) => requireAddress(oracle, "--oracle"));
  const repeated = oracles.find((oracle, index) => oracles.indexOf(oracle) < index);
  if (repeated !== undefined)
    throw new UsageError(`--oracle must name each address once, got ${repeated} twice`);
  const threshold =
    values.threshold === undefined ? undefined : requireInteger(values.threshold, "--threshold", 1, 255);
  if (threshold !== undefined && threshold > oracles.length)
    throw new UsageError(
      `--threshold must be at most ${oracles.length}, the number of oracles, got ${threshold}`,
    );
  const accounts = {
    owner: requireAddress(values.owner ?? "", "--owner"),
    allocator: requireAddress(values.allocator ?? "", "--allocator"),
    solver: optionalAddress(values.solver, "--solver"),
    depositAddressOperator: optionalAddress(values["deposit-address-operator"], "--deposit-address-operator"),
  };
  refuseShared(accounts);
  return {
    action,
    chains,
    includesHub: values.hub,
    ...accounts,
    isOwnerAccount: values["owner-is-account"],
    canOwnerDiffer: values["owner-may-differ"],
    oracles,
    threshold,
    maxFeeWei: parseMaxFee(values["max-fee-gwei"] ?? "100"),
    confirmations: requireInteger(values.confirmations ?? "5", "--confirmations", 1, 100),
    waitSeconds: parseWaitSeconds(values.wait),
    write: values.write,
    canReplace: values.replace,
  };
}

type Accounts = Pick<DeployInputs, "owner" | "allocator" | "solver" | "depositAddressOperator">;

/** With shared accounts, the service would not start or would refuse to withdraw. */
function refuseShared({ owner, allocator, solver, depositAddressOperator: operator }: Accounts): void {
  const different = [
    ["--owner", owner, "--solver", solver],
    ["--allocator", allocator, "--solver", solver],
    ["--deposit-address-operator", operator, "--solver", solver],
    ["--deposit-address-operator", operator, "--allocator", allocator],
  ] as const;
  for (const [option, account, otherOption, otherAccount] of different)
    if (account !== undefined && account === otherAccount)
      throw new UsageError(`${option} and ${otherOption} must be different accounts`);
}

function optionalAddress(argument: string | undefined, option: string): Address | undefined {
  return argument === undefined ? undefined : requireAddress(argument, option);
}

function requireAddress(argument: string, option: string): Address {
  const parsed = parseAddress(argument);
  if (parsed === undefined || parsed === zeroAddress)
    throw new UsageError(`${option} must be a 20-byte address, not zero, got ${argument}`);
  if (hasWrongChecksum(argument))
    throw new UsageError(`${option}: the checksum of ${argument} is wrong, so the address may have a typo`);
  return getAddress(parsed);
}

function requireInteger(argument: string, option: string, min: number, max: number): number {
  const value = /^\d{1,6}$/.test(argument) ? Number(argument) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new UsageError(`${option} must be a whole number from ${min} to ${max}, got ${argument}`);
  return value;
}

/** @throws UsageError */
export function parseWaitSeconds(argument: string): number {
  return requireInteger(argument, "--wait", 1, 86_400);
}

function parseMaxFee(argument: string): bigint {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(argument) || parseGwei(argument) === 0n)
    throw new UsageError(
      `--max-fee-gwei must be a positive decimal number with at most 9 decimals, got ${argument}`,
    );
  return parseGwei(argument);
}
