import type { Chain } from "@causeway/domain";
import { join } from "node:path";
import type { Address } from "viem";
import type { LocalAccount } from "./accounts.ts";
import { approveLocal } from "./approve.ts";
import { deployAccountAbstraction } from "./account-abstraction.ts";
import {
  emptyExternalDatabase,
  externalUrl,
  startAnvil,
  startPostgres,
  startRedis,
  startTogether,
  stopTogether,
  tryExternal,
  type NodeAddress,
  type Stoppable,
} from "@causeway/testkit";
import { deployHub, localHub, type Quorum } from "./deploy-hub.ts";
import { deployLocal } from "./deploy.ts";
import { fundLocal, type Funding } from "./fund.ts";
import { prepareExternalNode, type ExternalNode } from "./external-node.ts";
import { openPools } from "./open-pools.ts";

export interface InfrastructureOptions {
  /** `DATABASE_URL` and `REDIS_URL` are used if set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ports: { readonly postgres: number; readonly redis: number };
  /** Each chain's node listens at its `rpcUrl`. */
  readonly chains: readonly Chain[];
  /** Nodes to use instead of starting one, by the chain's name. */
  readonly externalNodes: ReadonlyMap<string, ExternalNode>;
  /** The chain on which attested payments are settled, and the quorum that it accepts. Undefined: none. */
  readonly hub: { readonly port: number; readonly quorum: Quorum } | undefined;
  /** For logs and the data of Postgres. */
  readonly folder: string;
  readonly durable: boolean;
  readonly postgresSettings: readonly string[];
  readonly blockTimeSeconds: number;
  readonly mixedMining: boolean;
  /** Accounts to fund on each chain. */
  readonly fundings: (chain: Chain) => readonly Funding[];
  readonly hubFundings: readonly Funding[];
  readonly solver: LocalAccount;
  readonly onProgress: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** A node with contracts and funded accounts. Stopping an external node leaves it running. */
export interface RunningNode extends NodeAddress, Stoppable {}

/** What the services depend on: an empty database, Redis, and chains with contracts and funds. */
export interface Infrastructure extends Stoppable {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly nodes: readonly RunningNode[];
  readonly hubNode: RunningNode | undefined;
}

interface Server extends Stoppable {
  readonly url: string;
}

/** Starts all parts in parallel. If one fails, stops the others. */
export async function startInfrastructure(options: InfrastructureOptions): Promise<Infrastructure> {
  const [database, redis, chains, hub] = await startTogether<
    [
      Server,
      Server,
      Stoppable & { nodes: readonly RunningNode[] },
      Stoppable & { node: RunningNode | undefined },
    ]
  >([startDatabase(options), startQueueServer(options), startChains(options), startHub(options)]);
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    nodes: chains.nodes,
    hubNode: hub.node,
    stop: async () => await stopTogether([chains, hub, redis, database]),
  };
}

async function startDatabase(options: InfrastructureOptions): Promise<Server> {
  const databaseUrl = externalUrl(options.env, "DATABASE_URL");
  if (databaseUrl !== undefined) {
    await tryExternal("DATABASE_URL", databaseUrl, emptyExternalDatabase);
    options.onProgress("Postgres: DATABASE_URL");
    return { url: databaseUrl, stop: async () => undefined };
  }
  const server = await startPostgres({
    dataDir: join(options.folder, "postgres"),
    port: options.ports.postgres,
    durable: options.durable,
    settings: options.postgresSettings,
    ...canceledBy(options.signal),
  });
  options.onProgress(`Postgres on port ${server.port}`);
  return server;
}

async function startQueueServer(options: InfrastructureOptions): Promise<Server> {
  const logFile = join(options.folder, "logs", "redis.log");
  const server = await startRedis({
    env: options.env,
    port: options.ports.redis,
    logFile,
    ...canceledBy(options.signal),
  });
  options.onProgress(
    server.kind === "given" ? "Redis: REDIS_URL" : `Redis (${server.kind}) on port ${options.ports.redis}`,
  );
  return server;
}

async function startChains(
  options: InfrastructureOptions,
): Promise<Stoppable & { nodes: readonly RunningNode[] }> {
  const nodes = await startTogether(options.chains.map(async (chain) => await startChain(chain, options)));
  return { nodes, stop: async () => await stopTogether(nodes) };
}

async function startChain(chain: Chain, options: InfrastructureOptions): Promise<RunningNode> {
  const fundings = options.fundings(chain);
  const setUp = async (started: NodeAddress): Promise<void> => {
    await deployLocal(started);
    await deployAccountAbstraction(started);
    await openPools(started);
    await fundLocal(started, fundings);
    const tokens = solverTokens(chain).map(({ address }) => address);
    await approveLocal(started, options.solver, chain.contracts.approvalProxy, tokens);
  };
  const external = options.externalNodes.get(chain.name);
  const port = Number(new URL(chain.rpcUrl).port);
  const node =
    external === undefined
      ? await startNode({ id: chain.id, name: chain.name, port }, options, setUp)
      : { ...(await prepareExternalNode(external, chain.id, fundings)), stop: async () => undefined };
  if (external !== undefined) await setUp(node);
  const origin = external?.variable ?? `on port ${port}`;
  options.onProgress(`${chain.displayName} (${chain.id}) ${origin}: contracts deployed, accounts funded`);
  return node;
}

async function startHub(
  options: InfrastructureOptions,
): Promise<Stoppable & { node: RunningNode | undefined }> {
  const { hub } = options;
  if (hub === undefined) return { node: undefined, stop: async () => undefined };
  const { chainId: id, name } = localHub;
  const node = await startNode({ id, name, port: hub.port }, options, async (started) => {
    await deployHub(started, hub.quorum);
    await fundLocal(started, options.hubFundings);
  });
  options.onProgress(
    `hub (${id}) on port ${hub.port}: contracts deployed for ${hub.quorum.threshold} of ${hub.quorum.signers.length} oracles`,
  );
  return { node, stop: async () => await node.stop() };
}

/** Starts a node and runs `setUp` on it; stops it if that fails. */
async function startNode(
  chain: { readonly id: number; readonly name: string; readonly port: number },
  options: InfrastructureOptions,
  setUp: (node: NodeAddress) => Promise<void>,
): Promise<RunningNode> {
  const node = await startAnvil({
    chainId: chain.id,
    port: chain.port,
    blockTimeSeconds: options.blockTimeSeconds,
    mixedMining: options.mixedMining,
    logFile: join(options.folder, "logs", `${chain.name}.log`),
    ...canceledBy(options.signal),
  });
  try {
    await setUp(node);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

function canceledBy(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** Tokens that the solver holds and pays with. */
function solverTokens(chain: Chain): Chain["tokens"] {
  return chain.tokens.filter(({ supportsBridging }) => supportsBridging);
}

/** The same amount of each of a chain's tokens that the solver holds. */
export function everySolverToken(
  chain: Chain,
  amountOf: (decimals: number) => bigint,
): { token: Address; amount: bigint }[] {
  return solverTokens(chain).map((token) => ({ token: token.address, amount: amountOf(token.decimals) }));
}
