import { priceSource } from "../../markets/prices/prices.wiring.ts";
import { connectionsOf } from "../connections.ts";
import { judgeAccounts } from "./accounts-check.ts";
import { endpointsOf, readEndpoint } from "./chain-facts.adapter.ts";
import { judgeChain } from "./chain-check.ts";
import { judgeClock, type NamedReading } from "./clock-check.ts";
import { judgeConfiguration } from "./configuration-check.ts";
import { checkConnection, connectTargetOf } from "./check-connection.adapter.ts";
import { judgeContracts } from "./contracts-check.ts";
import { chainReads, readAccounts, readContracts } from "./contracts-facts.adapter.ts";
import { examineNonEvmChain } from "./examine-non-evm.ts";
import { examineRedis } from "./examine-redis.ts";
import { findingsOf, hostOf, type Finding } from "./finding.ts";
import { factsOnly, gatherFacts, noteClock, PART_TIMEOUT_MS } from "./gather.ts";
import { judgeHub } from "./hub-check.ts";
import { isUsableHub, judgeHubEndpoints } from "./hub-endpoints-check.ts";
import { readHub } from "./hub-facts.adapter.ts";
import { judgeNotices, judgeSigner } from "./notices-check.ts";
import { readOracle } from "./oracle-facts.adapter.ts";
import { judgeOracles } from "./oracles-check.ts";
import { judgePostgres } from "./postgres-check.ts";
import { readPostgres } from "./postgres-facts.postgres.ts";
import { judgePrices } from "./prices-check.ts";
import { reasonOf } from "./reason.ts";
import type { Subjects } from "./subjects.ts";

/** Collects the clocks of the servers that answer. */
type Clocks = NamedReading[];

/**
 * Checks every part of an instance at the same time, and reports all findings. Changes nothing: it reads, and
 * sends no transaction and no notification.
 */
export async function examine(subjects: Subjects): Promise<readonly Finding[]> {
  const clocks: Clocks = [];
  const parts = await Promise.all([
    examinePostgres(subjects, clocks),
    examineRedis(subjects, clocks),
    ...subjects.chains.map((chain) => examineChain(subjects, chain, clocks)),
    ...subjects.nonEvmChains.map((chain) => examineNonEvmChain(subjects, chain)),
    examineHub(subjects),
    examineOracles(subjects, clocks),
    examinePrices(subjects),
    examineNotices(subjects),
  ]);
  return [...judgeConfiguration(subjects), ...parts.flat(), ...judgeClock(clocks)];
}

async function examinePostgres(
  { databaseUrl, poolSize }: Subjects,
  clocks: Clocks,
): Promise<readonly Finding[]> {
  if (databaseUrl === undefined) return [findingsOf("postgres", "DATABASE_URL").skipped("not configured")];
  const gathered = await gatherFacts(() => readPostgres(databaseUrl));
  noteClock(clocks, "Postgres", gathered);
  const database = { poolSize };
  const needed = (["api", "worker"] as const)
    .flatMap((process) => Object.values(connectionsOf(process, database)))
    .reduce((sum, count) => sum + count, 0);
  return judgePostgres(hostOf(databaseUrl), factsOnly(gathered), needed);
}

async function examineChain(
  { isLocal, accounts }: Subjects,
  chain: Subjects["chains"][number],
  clocks: Clocks,
): Promise<readonly Finding[]> {
  const urls = endpointsOf(chain);
  const endpoints = await Promise.all(
    urls.map(async (url) => ({
      url,
      host: hostOf(url),
      gathered: await gatherFacts(() => readEndpoint(url)),
    })),
  );
  const expected = {
    name: chain.name,
    chainId: chain.id,
    blockTimeSeconds: chain.blockTimeSeconds,
    quorum: chain.rpcQuorum ?? Math.floor(urls.length / 2) + 1,
    isQuiet: isLocal,
  };
  const nowMs = Date.now();
  for (const { host, gathered } of endpoints)
    // A block may be old, but a block from the future shows that this machine's clock is behind.
    if (gathered.kind === "facts" && gathered.facts.blockAtMs > nowMs && !isLocal)
      clocks.push({ source: `${chain.name} (${host})`, theirsMs: gathered.facts.blockAtMs, oursMs: nowMs });
  const usable = endpoints.find(
    ({ gathered }) => gathered.kind === "facts" && gathered.facts.chainId === BigInt(chain.id),
  );
  const findings = judgeChain(expected, endpoints, nowMs);
  const contracts = findingsOf("contracts and accounts", chain.name);
  if (usable === undefined) return [...findings, contracts.skipped("no endpoint answered")];
  if (accounts === undefined)
    return [...findings, contracts.skipped("the accounts of the service are not configured")];
  const gathered = await gatherFacts(async () => {
    const { reads, close } = chainReads(usable.url, chain.id);
    try {
      const [contractsFacts, accountsFacts] = await Promise.all([
        readContracts(reads, chain, accounts),
        readAccounts(reads, chain, accounts),
      ]);
      return { contractsFacts, accountsFacts };
    } finally {
      await close();
    }
  });
  if (gathered.kind === "unreachable")
    return [
      ...findings,
      contracts.problem({
        found: `contracts and balances could not be read (${gathered.reason})`,
        why: "the service reads them too, so quotes and payments on this chain fail",
        remedy: "run doctor again; if it persists, use another endpoint",
      }),
    ];
  const { solver, executor, depositAddressOperator, formerSolvers } = accounts;
  return [
    ...findings,
    ...judgeContracts(gathered.facts.contractsFacts, {
      chain: chain.name,
      isLocal,
      solver,
      ownAccounts: [solver, executor, depositAddressOperator, ...formerSolvers].flatMap(
        (account) => account ?? [],
      ),
      router: chain.contracts.router,
    }),
    ...judgeAccounts(
      {
        chain: chain.name,
        nativeSymbol: chain.native.symbol,
        approvalProxy: chain.contracts.approvalProxy,
      },
      gathered.facts.accountsFacts,
    ),
  ];
}

async function examineHub({ hub, accounts, oracleSigners, oracles }: Subjects): Promise<readonly Finding[]> {
  if (hub === undefined) return [findingsOf("hub", "hub").skipped("settlement is not configured")];
  const { chainId, hubAddress, rpcQuorum } = hub.hub;
  const endpoints = await Promise.all(
    endpointsOf(hub.hub).map(async (url) => ({
      url,
      host: hostOf(url),
      gathered: await gatherFacts(() => readEndpoint(url)),
    })),
  );
  const quorum = rpcQuorum ?? Math.floor(endpoints.length / 2) + 1;
  const findings = judgeHubEndpoints({ chainId, quorum }, endpoints);
  const usable = endpoints.find((endpoint) => isUsableHub(chainId, endpoint));
  if (usable === undefined) return [...findings, findingsOf("hub", "hub").skipped("no endpoint answered")];
  return [
    ...findings,
    ...judgeHub(
      { host: usable.host, hubAddress, oracleSigners, oracles: oracles.length },
      await gatherFacts(() => readHub(usable.url, hub, accounts?.solver)),
    ),
  ];
}

async function examineOracles(
  { oracles, hub, chains, nonEvmChains }: Subjects,
  clocks: Clocks,
): Promise<readonly Finding[]> {
  const queried = await Promise.all(
    oracles.map(async (oracle) => {
      const host = hostOf(oracle.url);
      const gathered = await gatherFacts(() => readOracle(oracle));
      noteClock(clocks, host, gathered);
      return { host, gathered: factsOnly(gathered) };
    }),
  );
  return judgeOracles(queried, {
    hubChainId: hub?.hub.chainId,
    chains: [...chains.map(({ name }) => name), ...nonEvmChains.map(({ chain }) => chain.name)],
  });
}

async function examinePrices(subjects: Subjects): Promise<readonly Finding[]> {
  const { prices, chains, nonEvmChains, isLocal, volatileMaxAgeMs } = subjects;
  if (prices === undefined) return [findingsOf("price", "PRICE_SOURCE").skipped("not configured")];
  const all = [...chains, ...nonEvmChains.map(({ chain }) => chain)].flatMap(({ native, tokens }) => [
    native,
    ...tokens,
  ]);
  const currencies = [...new Set(all.map(({ priceId }) => priceId))].map((priceId) => {
    const sameAsset = all.filter((currency) => currency.priceId === priceId);
    return {
      priceId,
      isStable: sameAsset.every((currency) => currency.class === "stable"),
      isHeld: sameAsset.some(({ supportsBridging }) => supportsBridging),
    };
  });
  const secondFaults: string[] = [];
  const gathered = await gatherFacts(async () => {
    const source = priceSource({ prices, chains, nonEvmChains }, { nowMs: () => Date.now() }, (error) =>
      secondFaults.push(reasonOf(error)),
    );
    const ids = currencies.map(({ priceId }) => priceId);
    return { prices: await source.fetch(ids, AbortSignal.timeout(PART_TIMEOUT_MS)), secondFaults };
  });
  const { source, maxAgeMs } = prices;
  return judgePrices({ source, isLocal, maxAgeMs, volatileMaxAgeMs, currencies }, gathered, Date.now());
}

async function examineNotices({ notices, signer, isLocal }: Subjects): Promise<readonly Finding[]> {
  const [channels, signerConnection] = await Promise.all([
    Promise.all(
      notices.channels.map(async ({ url }) => ({
        host: hostOf(url),
        gathered: await gatherFacts(() => checkConnection(connectTargetOf(url))),
      })),
    ),
    signer === undefined
      ? undefined
      : gatherFacts(() =>
          checkConnection(
            signer.kind === "socket" ? { path: signer.path } : { host: signer.host, port: signer.port },
          ),
        ),
  ]);
  return [
    ...judgeNotices(channels, isLocal),
    ...(signerConnection === undefined
      ? []
      : judgeSigner({ host: "ORDER_SIGNER_URL", gathered: signerConnection })),
  ];
}
