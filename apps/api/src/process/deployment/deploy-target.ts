import { DEPLOYABLE_VM_TYPE } from "@causeway/chains/deployment";
import type { ConfigLocation, Env } from "@causeway/config";
import { ConfigError, readJsonFile, resolvePlaceholders } from "@causeway/config";
import { planChain, planHub, plannedAddress, type DeploymentPlan } from "@causeway/contracts/deploy";
import { join } from "node:path";
import type { DeployInputs } from "./deploy-inputs.ts";
import { Misused } from "../commands/run-command.ts";
import { CHAIN_FIELDS, HUB_FIELDS, textAt, type EntryField } from "./entry-fields.ts";

/** A configured chain with its deployment plan. */
export interface DeployTarget {
  readonly kind: "chain" | "hub";
  /** `id` of the entry. */
  readonly name: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly nativeSymbol: string;
  readonly plan: DeploymentPlan;
  readonly fields: readonly EntryField[];
  /** File name without folder. */
  readonly fileName: string;
  /** The entry with its placeholders. */
  readonly entry: object;
  /** The entry with placeholders resolved. */
  readonly resolved: unknown;
}

/**
 * The chains that `inputs` name, and what each needs. Entries may lack addresses, because
 * deploying creates them.
 *
 * @throws ConfigError when a file or an RPC URL is missing, Misused if an option is missing
 */
export function readTargets(
  inputs: DeployInputs,
  location: ConfigLocation,
  env: Env,
): readonly DeployTarget[] {
  const chainFile = `chains.${location.environment}.json`;
  const hubFile = `chains.hub.${location.environment}.json`;
  const chains = inputs.chains.length === 0 ? [] : readEntries(location, chainFile);
  const targets = inputs.chains.map((name) => {
    const entry = chains.find((one) => isNamed(one, name));
    if (entry === undefined) throw new Misused(`--chain: ${chainFile} has no chain ${name}`);
    return chainTarget(entry, chainFile, inputs, env);
  });
  if (!inputs.hub) return targets;
  const [hub] = readEntries(location, hubFile);
  if (hub === undefined) throw new ConfigError([`${hubFile}: has no entry`]);
  return [...targets, hubTarget(hub, hubFile, inputs, env)];
}

function chainTarget(entry: object, fileName: string, inputs: DeployInputs, env: Env): DeployTarget {
  const { owner, allocator, solver, depositAddressOperator } = inputs;
  const shared = read(entry, fileName, env);
  const family = textAt(entry, ["vmType"]);
  if (family !== DEPLOYABLE_VM_TYPE)
    throw new Misused(
      `--chain: ${shared.name} is a ${family} chain; only chains of the family ${DEPLOYABLE_VM_TYPE} are supported`,
    );
  if (solver === undefined) throw new Misused("--solver is required with --chain");
  const options = { owner, allocator, solver, depositAddressOperator };
  const complete = planChain({ ...options, multicall3: true });
  const isPlanned = isMulticall3Planned(shared.resolved, complete);
  const plan = isPlanned ? complete : planChain({ ...options, multicall3: false });
  return { kind: "chain", ...shared, plan, fields: CHAIN_FIELDS };
}

/**
 * Whether a plan includes Multicall3: the entry has none, or the one that an earlier deployment created and
 * wrote there. Any other, such as the public one, is not part of the deployment.
 */
export function isMulticall3Planned(entry: unknown, complete: DeploymentPlan): boolean {
  const configured = textAt(entry, ["contracts", "multicall3"]);
  return (
    configured === undefined ||
    configured.toLowerCase() === plannedAddress(complete, "Multicall3").toLowerCase()
  );
}

function hubTarget(entry: object, fileName: string, inputs: DeployInputs, env: Env): DeployTarget {
  const { owner, allocator, oracles, threshold } = inputs;
  if (oracles.length === 0 || threshold === undefined)
    throw new Misused("--oracle and --threshold are required with --hub");
  const shared = read(entry, fileName, env);
  const domain = {
    name: textAt(shared.resolved, ["domain", "name"]) ?? "Oracle",
    version: textAt(shared.resolved, ["domain", "version"]) ?? "1",
  };
  for (const [field, text] of Object.entries(domain))
    if (Buffer.byteLength(text) > 31)
      throw new ConfigError([
        `${fileName}: domain.${field} must be at most 31 bytes, got ${Buffer.byteLength(text)}`,
      ]);
  const plan = planHub({ owner, allocator, oracles, threshold, domain });
  return { kind: "hub", ...shared, plan, fields: HUB_FIELDS };
}

function read(entry: object, fileName: string, env: Env): Omit<DeployTarget, "kind" | "plan" | "fields"> {
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
  return entries.filter((one): one is object => typeof one === "object" && one !== null);
}

function isNamed(entry: object, name: string): boolean {
  return textAt(entry, ["id"]) === name || ("chainId" in entry && String(entry.chainId) === name);
}
