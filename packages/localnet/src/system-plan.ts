import type { Chain } from "@causeway/domain";
import { join } from "node:path";
import { parseEther, parseUnits, type Address } from "viem";
import { localAccount, localAccounts, type LocalAccount } from "./accounts.ts";
import { externalUrl, isPortFree, localnetDir, PortInUse, type UnexpectedExit } from "@causeway/testkit";
import { hubContracts, localHub } from "./deploy-hub.ts";
import type { HubEndpoint, OracleEndpoint } from "./endpoints.ts";
import type { Funding } from "./fund.ts";
import { externalNodeEnvironment, readExternalNodes, type ExternalNode } from "./external-node.ts";
import { everySolverToken } from "./infrastructure.ts";
import { defaultPortBase, nodeEnvironment, portsFrom, readLocalChains } from "./local-chains.ts";
import { planOracles, type OraclePlan } from "./oracle-plan.ts";

export interface SystemOptions {
  /**
   * `DATABASE_URL`, `REDIS_URL` and, for the two EVM chains, `LOCAL_A_RPC_URL` and related variables are used
   * if set.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** First of the consecutive ports that the system uses. */
  readonly portBase?: number;
  /** Number of processes of each kind, from 1 (default) to 5. */
  readonly apis?: number;
  readonly workers?: number;
  /**
   * Number of oracles. Default: 3. Quorum: 2, or 1 with one oracle. 0: no hub, and nothing is settled.
   */
  readonly oracles?: 0 | 1 | 2 | 3;
  /** Also start Solana, Bitcoin and Hyperliquid. Default: false. */
  readonly families?: boolean;
  /** Seconds between blocks of EVM chains. Default 1. */
  readonly blockTimeSeconds?: number;
  /** Also mine each transaction immediately. */
  readonly mixedMining?: boolean;
  /** Whether commits of the embedded Postgres survive a kill. Default: true. */
  readonly durable?: boolean;
  /** Further settings of the embedded Postgres, each `name=value`. */
  readonly postgresSettings?: readonly string[];
  /** Number of funded users. Default: 10. */
  readonly users?: number;
  /** Further variables for API and worker. */
  readonly appEnv?: Readonly<Record<string, string>>;
  /** Additional variables of a single worker, by its index and the shared variables. */
  readonly workerEnv?: (
    worker: number,
    env: Readonly<Record<string, string>>,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Called for each completed step, in the order of completion. */
  readonly onProgress?: (text: string) => void;
  /** Called if an API, worker or oracle exits without having been stopped or killed. */
  readonly onUnexpectedExit?: (facts: UnexpectedExit) => void;
  /** Cancels the start and stops what was started. */
  readonly signal?: AbortSignal;
}

/** Everything that is derived from the options before the start. */
export interface SystemPlan {
  readonly portBase: number;
  readonly ports: ReturnType<typeof portsFrom>;
  readonly apiPorts: readonly number[];
  readonly workerPorts: readonly number[];
  readonly oracles: OraclePlan;
  readonly folder: string;
  readonly hasFamilies: boolean;
  /** Environment variables with the URLs of the EVM nodes. */
  readonly nodeEnv: Readonly<Record<string, string>>;
  /** Nodes that run already, by chain name. */
  readonly externalNodes: ReadonlyMap<string, ExternalNode>;
  readonly chains: readonly Chain[];
  readonly solver: LocalAccount;
  /** Sends sponsored executions; holds only native tokens for their gas. */
  readonly executor: LocalAccount;
  /** Sweeps deposit addresses; holds only native tokens for gas. */
  readonly depositAddressOperator: LocalAccount;
  /** Sponsors its users from its app balance. */
  readonly sponsor: LocalAccount;
  /** The chain of app balances, and the token that the sponsor pays with. */
  readonly appBalance: { readonly chain: Chain; readonly token: Address };
  readonly users: readonly LocalAccount[];
  readonly onProgress: (text: string) => void;
  readonly signal: { readonly signal?: AbortSignal };
}

export function planSystem(options: SystemOptions): SystemPlan {
  const portBase = options.portBase ?? defaultPortBase;
  const ports = portsFrom(portBase);
  const externalNodes = readExternalNodes(options.env);
  const nodeEnv = {
    ...nodeEnvironment({ portA: ports.nodeA, portB: ports.nodeB }),
    ...externalNodeEnvironment(externalNodes),
  };
  const oracleCount = options.oracles ?? 3;
  const chains = readLocalChains(nodeEnv);
  return {
    portBase,
    ports,
    apiPorts: firstIndexes(options.apis ?? 1).map(ports.api),
    workerPorts: firstIndexes(options.workers ?? 1).map(ports.workerHealth),
    oracles: planOracles(Array.from({ length: oracleCount }, (_, index) => ports.oracle(index))),
    folder: join(localnetDir, String(portBase)),
    hasFamilies: options.families ?? false,
    nodeEnv,
    externalNodes,
    chains,
    solver: localAccount("solver"),
    executor: localAccount("executor"),
    depositAddressOperator: localAccount("depositAddressOperator"),
    sponsor: localAccount("sponsor"),
    appBalance: appBalanceOf(chains),
    users: localAccounts("user", options.users ?? 10),
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal === undefined ? {} : { signal: options.signal },
  };
}

function appBalanceOf([chain]: readonly Chain[]): SystemPlan["appBalance"] {
  const usdc = chain?.tokens.find(({ symbol }) => symbol === "USDC");
  if (chain === undefined || usdc === undefined)
    throw new RangeError("invariant violated: the first local chain has no USDC");
  return { chain, token: usdc.address };
}

function firstIndexes(count: number): number[] {
  if (!Number.isInteger(count) || count < 1 || count > 5) {
    throw new RangeError(`a local system must have 1 to 5 processes of each kind, got ${count}`);
  }
  return Array.from({ length: count }, (_, index) => index);
}

/** Throws if a port is in use, before anything starts. */
export async function checkPorts(plan: SystemPlan, env: SystemOptions["env"]): Promise<void> {
  const { postgres, redis, nodeA, nodeB, hub, solana, bitcoin, hyperliquid } = plan.ports;
  const families = plan.hasFamilies ? [solana, bitcoin, hyperliquid] : [];
  const oracles = plan.oracles.oracles.map(({ port }) => port);
  const embeddedPorts = [
    ...(externalUrl(env, "DATABASE_URL") === undefined ? [postgres] : []),
    ...(externalUrl(env, "REDIS_URL") === undefined ? [redis] : []),
  ];
  const settlementPorts = oracles.length === 0 ? [] : [...oracles, hub];
  for (const port of [
    ...plan.apiPorts,
    ...plan.workerPorts,
    ...embeddedPorts,
    ...(plan.externalNodes.has("local-a") ? [] : [nodeA]),
    ...(plan.externalNodes.has("local-b") ? [] : [nodeB]),
    ...settlementPorts,
    ...families,
  ]) {
    if (!(await isPortFree(port))) throw new PortInUse(port);
  }
}

export function fundings(chain: Chain, plan: SystemPlan): Funding[] {
  const solverFunds = {
    nativeWei: parseEther("100000"),
    tokens: everySolverToken(chain, (d) => parseUnits("100000000", d)),
  };
  // Amounts of tokens that can only be swapped are limited to what their pools can absorb.
  const swapOnlyTokens = chain.tokens.filter(({ supportsBridging }) => !supportsBridging);
  const userFunds = {
    nativeWei: parseEther("1000"),
    tokens: [
      ...everySolverToken(chain, (d) => parseUnits("1000000", d)),
      ...swapOnlyTokens.map(({ address, decimals }) => ({
        token: address,
        amount: parseUnits("1000", decimals),
      })),
    ],
  };
  // Owner and allocator only sign administrative transactions of the depository.
  const administrators = [localAccount("owner"), localAccount("allocator")];
  return [
    { address: plan.solver.address, ...solverFunds },
    { address: plan.executor.address, nativeWei: parseEther("1000") },
    { address: plan.depositAddressOperator.address, nativeWei: parseEther("1000") },
    { address: plan.sponsor.address, ...userFunds },
    ...administrators.map(({ address }) => ({ address, nativeWei: parseEther("1000") })),
    ...plan.users.map(({ address }) => ({ address, ...userFunds })),
  ];
}

/** The solver submits executions; the owner and the allocator send their own transactions. */
export function hubFundings({ solver }: SystemPlan): Funding[] {
  return [solver, localAccount("owner"), localAccount("allocator")].map(({ address }) => ({
    address,
    nativeWei: parseEther("1000"),
  }));
}

export function describeSettlement({ oracles: { oracles, quorum }, ports }: SystemPlan): {
  oracles: OracleEndpoint[];
  hub?: HubEndpoint;
} {
  const described = oracles.map(({ url, account, apiKey }) => ({ url, address: account.address, apiKey }));
  if (described.length === 0) return { oracles: described };
  const { chainId: id, name } = localHub;
  const hub = { id, name, rpcUrl: urlOfPort(ports.hub), contracts: hubContracts(quorum) };
  return { oracles: described, hub };
}

export function urlOfPort(port: number): string {
  return `http://127.0.0.1:${port}`;
}
