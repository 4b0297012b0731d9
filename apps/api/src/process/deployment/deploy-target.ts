import type { ConfigLocation, Env } from "@causeway/config";
import { ConfigError, readJsonFile, resolvePlaceholders } from "@causeway/config";
import { planChain, planHub, plannedAddress, type DeploymentPlan } from "@causeway/contracts/deploy";
import { join } from "node:path";
import type { DeployInputs } from "./deploy-inputs.ts";
import { UsageError } from "../commands/run-command.ts";
import type { EntryTarget } from "./chain-entries.ts";
import { addressesOf, CHAIN_FIELDS, HUB_FIELDS, textAt } from "./entry-fields.ts";

/** An entry of a configuration file, and how to connect to its chain. */
export interface ConnectedEntry extends Omit<EntryTarget, "kind" | "addresses"> {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly nativeSymbol: string;
}

/** A configured chain with its deployment plan. */
export interface DeployTarget extends ConnectedEntry, Pick<EntryTarget, "addresses"> {
  readonly kind: "chain" | "hub";
  readonly plan: DeploymentPlan;
}

/**
 * The targets that the options name, with their plans. Entries may lack addresses, because deploying creates
 * them.
 *
 * @throws ConfigError when a file or an RPC URL is missing, UsageError if an option is missing
 */
export function readTargets(
  inputs: DeployInputs,
  location: ConfigLocation,
  env: Env,
): readonly DeployTarget[] {
  const hubFile = `chains.hub.${location.environment}.json`;
  const chains = readChainEntries(inputs.chains, location);
  const targets = chains.map(({ entry, fileName }) => chainTarget(entry, fileName, inputs, env));
  if (!inputs.includesHub) return targets;
  const [hub] = readEntries(location, hubFile);
  if (hub === undefined) throw new ConfigError([`${hubFile}: has no entry`]);
  return [...targets, hubTarget(hub, hubFile, inputs, env)];
}

/** An unchecked entry of a chain file. */
export interface NamedEntry {
  readonly entry: object;
  readonly fileName: string;
  /** The name or id that `--chain` has. */
  readonly name: string;
  readonly vmType: string | undefined;
}

/**
 * The entries of chains by their names or ids.
 * @throws ConfigError when the file is missing, UsageError if it has no such chain
 */
export function readChainEntries(names: readonly string[], location: ConfigLocation): readonly NamedEntry[] {
  if (names.length === 0) return [];
  const fileName = `chains.${location.environment}.json`;
  const chains = readEntries(location, fileName);
  return names.map((name) => {
    const entry = chains.find((candidate) => isNamed(candidate, name));
    if (entry === undefined) throw new UsageError(`--chain: ${fileName} has no chain ${name}`);
    return { entry, fileName, name, vmType: textAt(entry, ["vmType"]) };
  });
}

function chainTarget(entry: object, fileName: string, inputs: DeployInputs, env: Env): DeployTarget {
  const { owner, allocator, solver, depositAddressOperator } = inputs;
  const connected = connectedEntry(entry, fileName, env);
  if (solver === undefined) throw new UsageError("--solver is required with --chain");
  const options = { owner, allocator, solver, depositAddressOperator };
  const completePlan = planChain({ ...options, multicall3: true });
  const isPlanned = isMulticall3Planned(connected.resolved, completePlan);
  const plan = isPlanned ? completePlan : planChain({ ...options, multicall3: false });
  return { kind: "chain", ...connected, plan, addresses: addressesOf(plan, CHAIN_FIELDS) };
}

/**
 * Whether the plan includes Multicall3: the entry has none, or has the contract that an earlier deployment
 * created. Any other contract, such as the public Multicall3, is not part of the deployment.
 */
export function isMulticall3Planned(entry: unknown, completePlan: DeploymentPlan): boolean {
  const configured = textAt(entry, ["contracts", "multicall3"]);
  return (
    configured === undefined ||
    configured.toLowerCase() === plannedAddress(completePlan, "Multicall3").toLowerCase()
  );
}

function hubTarget(entry: object, fileName: string, inputs: DeployInputs, env: Env): DeployTarget {
  const { owner, allocator, oracles, threshold } = inputs;
  if (oracles.length === 0 || threshold === undefined)
    throw new UsageError("--oracle and --threshold are required with --hub");
  const connected = connectedEntry(entry, fileName, env);
  const domain = {
    name: textAt(connected.resolved, ["domain", "name"]) ?? "Oracle",
    version: textAt(connected.resolved, ["domain", "version"]) ?? "1",
  };
  for (const [field, text] of Object.entries(domain))
    if (Buffer.byteLength(text) > 31)
      throw new ConfigError([
        `${fileName}: domain.${field} must be at most 31 bytes, got ${Buffer.byteLength(text)}`,
      ]);
  const plan = planHub({ owner, allocator, oracles, threshold, domain });
  return { kind: "hub", ...connected, plan, addresses: addressesOf(plan, HUB_FIELDS) };
}

/** @throws ConfigError when the chain id or an RPC URL is missing */
export function connectedEntry(entry: object, fileName: string, env: Env): ConnectedEntry {
  const name = textAt(entry, ["id"]) ?? "";
  const { value: resolved, unset } = resolvePlaceholders(entry, env);
  const { chainId, hubChainId, httpRpcUrl } = resolved as Readonly<Record<string, unknown>>;
  const id = Number(chainId ?? hubChainId);
  const missing = unset.filter(({ path: [field] }) => field === "chainId" || field === "httpRpcUrl");
  if (missing.length > 0)
    throw new ConfigError(missing.map(({ variable }) => `${variable} is required to deploy to ${name}`));
  if (!Number.isSafeInteger(id) || id < 1) throw new ConfigError([`${fileName}: ${name} has no chainId`]);
  const rpcUrls = (Array.isArray(httpRpcUrl) ? httpRpcUrl : [httpRpcUrl]).filter(
    (url): url is string => typeof url === "string" && url !== "",
  );
  if (rpcUrls.length === 0) throw new ConfigError([`${fileName}: ${name} has no httpRpcUrl`]);
  const nativeSymbol = textAt(resolved, ["native", "symbol"]) ?? "ETH";
  return { name, chainId: id, rpcUrls, nativeSymbol, fileName, entry, resolved };
}

function readEntries({ configsDir }: ConfigLocation, fileName: string): readonly object[] {
  const entries = readJsonFile(join(configsDir, fileName), fileName);
  if (!Array.isArray(entries)) throw new ConfigError([`${fileName}: must be an array of chains`]);
  return entries.filter((entry): entry is object => typeof entry === "object" && entry !== null);
}

function isNamed(entry: object, name: string): boolean {
  return textAt(entry, ["id"]) === name || ("chainId" in entry && String(entry.chainId) === name);
}
