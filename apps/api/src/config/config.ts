import type { TrustedProxies } from "@causeway/service-kit";
import type { Env, ReadChains, Secret, SettingValues } from "@causeway/config";
import {
  ConfigError,
  deepFreeze,
  gather,
  loadAttestationChains,
  loadFixedPrices,
  loadHub,
  noChainProblems,
  readChains,
  readSettings,
  setting,
  unknownVariables,
  validSettings,
  withVaultSecrets,
} from "@causeway/config";
import type {
  Address,
  AttestationChain,
  AttestationHub,
  Chain,
  FeePolicy,
  RailChain,
} from "@causeway/domain";
import { parseAddress } from "@causeway/domain";
import { parseUnits } from "viem";
import { appBalancePolicy, appBalanceProblems } from "./app-balance-policy.ts";
import { readOracleUrls } from "./oracle-urls.ts";
import type { OracleUrl } from "./oracle-urls.ts";
import { publicKeyProblems, readOwnAccounts } from "./own-accounts.ts";
import type { OwnAccounts, WorkerKeys } from "./own-accounts.ts";
import type { ProcessRole } from "./resolve-accounts.ts";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { EnginePolicy } from "../db/engine-policy.port.ts";
import type { PushPolicy } from "../push/status-push.port.ts";
import type { RateLimitPolicy } from "../http/rate-limits.port.ts";
import type { SettlementPolicy } from "../settlement/settlement-policy.port.ts";
import type { WebhookPolicy } from "../push/webhooks.port.ts";
import {
  accessSettings,
  apiSettingGroups,
  appBalanceSettings,
  engineSettings,
  httpSettings,
  locationSettings,
  permitSettings,
  priceSettings,
  pushSettings,
  quoteSettings,
  settlementSettings,
  solverSettings,
  storageSettings,
  swapSettings,
  tokenSettings,
} from "./settings.ts";
import { leadWarnings } from "../deposits/settled-lead.ts";

/** The environment in which everything runs on one machine with keys that anyone can compute. */
const LOCAL = "local";

const publicPriceUrls = {
  coingecko: "https://api.coingecko.com/api/v3",
  defillama: "https://coins.llama.fi",
} as const;

/** Where prices come from. */
export type PriceConfig = {
  readonly refreshMs: number;
  readonly maxAgeMs: number;
  readonly timeoutMs: number;
} & (
  | {
      readonly source: "fixed";
      /** USD with 18 decimals by price id. */ readonly usd: ReadonlyMap<string, bigint>;
    }
  | (PriceEndpointConfig & {
      /** Confirms each price; undefined: none does. */
      readonly second: PriceEndpointConfig | undefined;
    })
);

/** An HTTP service that knows prices. */
export interface PriceEndpointConfig {
  readonly source: "coingecko" | "defillama";
  readonly url: string;
  readonly apiKey: Secret | undefined;
}

/** Lists of tokens that somebody vouches for. */
export interface TokenListConfig {
  /** File paths and `https` URLs. */
  readonly sources: readonly string[];
  readonly refreshMs: number;
  readonly timeoutMs: number;
}

/** A service that finds exchanges on request. */
export interface AggregatorConfig {
  /** Before `/price` and `/quote`. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** In `/swap-sources`. */
  readonly name: string;
  readonly timeoutMs: number;
}

/** A chain that is reached by a rail, and the same as oracles know it. */
export interface RailConfig {
  readonly chain: RailChain;
  readonly attestation: AttestationChain;
}

/** How what the solver paid is settled on the hub. */
export interface SettlementConfig {
  readonly hub: AttestationHub;
  /** The hub's contract that speaks for the oracles. */
  readonly multisig: Address;
  readonly oracles: readonly OracleUrl[];
  /** Undefined: every signer that the multisig accepts counts. */
  readonly signers: readonly Address[] | undefined;
  readonly oracleTimeoutMs: number;
  readonly policy: SettlementPolicy;
}

/** Everything the API is told from outside. Frozen. It holds no key but the solver's. */
export interface ApiConfig {
  readonly environment: string;
  readonly database: { readonly url: Secret; readonly poolSize: number; readonly statementTimeoutMs: number };
  readonly redis: { readonly url: Secret; readonly queuePrefix: string };
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly bodyLimitBytes: number;
    /** Proxies whose `X-Forwarded-For` is believed: all, none, or these addresses and ranges. */
    readonly trustProxy: TrustedProxies;
    readonly responseCheck: boolean;
  };
  readonly access: {
    /** Undefined: keys are not kept over HTTP. */
    readonly metricsToken: Secret | undefined;
    readonly operatorToken: Secret | undefined;
    /** Undefined: nothing is limited. */
    readonly limits: RateLimitPolicy | undefined;
  };
  readonly push: {
    readonly connections: Omit<PushPolicy, "trustProxy">;
    readonly webhooks: WebhookPolicy;
  };
  readonly healthPort: number;
  /** Names of the chains without which a process is not ready. */
  readonly requiredChains: readonly string[];
  readonly logFormat: "json" | "pretty";
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  readonly shutdownTimeoutMs: number;
  readonly solver: {
    /** The API signs orders with it. */
    readonly privateKey: Secret;
    readonly chainName: string;
  };
  readonly accounts: OwnAccounts;
  readonly prices: PriceConfig;
  readonly tokenLists: TokenListConfig;
  /** Undefined: exchanges are found in pools only. */
  readonly aggregator: AggregatorConfig | undefined;
  readonly fees: FeePolicy;
  /** Longest time to live that a quote request may ask for. */
  readonly maxTtlSeconds: number;
  readonly engine: EnginePolicy;
  readonly appBalance: AppBalancePolicy;
  /** USD as a decimal number, and signatures of one user within an hour. */
  readonly permits: { readonly dailyUsd: string; readonly perUser: number };
  /** Undefined: nothing is settled. */
  readonly settlement: SettlementConfig | undefined;
  /** Enabled EVM chains, never empty. */
  readonly chains: readonly Chain[];
  /** Enabled chains that are reached by a rail. */
  readonly rails: readonly RailConfig[];
  /** Names of chains that are off because nothing is set for them. */
  readonly offChains: readonly string[];
  /** For the log at start: what is switched off and why. */
  readonly warnings: readonly string[];
}

/** What the worker is told: the same, with the keys that it pays with. Frozen. */
export interface WorkerConfig extends ApiConfig {
  readonly keys: WorkerKeys;
}

/**
 * Reads the environment, the files of the secrets folder and the files of `CONFIGS_DIR`.
 * @throws ConfigError with every problem at once; no problem text holds a secret.
 */
export function readApiConfig(processEnv: Env): ApiConfig {
  return deepFreeze(readConfig(processEnv, "api").config);
}

/** The same for the worker. Only the API asks for the operator's token. @throws ConfigError */
export function readWorkerConfig(processEnv: Env): WorkerConfig {
  const { config, keys } = readConfig(processEnv, "worker");
  return deepFreeze({ ...config, access: { ...config.access, operatorToken: undefined }, keys });
}

/** What checks between settings look at. */
const crossChecked = {
  ...accessSettings,
  ...solverSettings,
  ...priceSettings,
  ...tokenSettings,
  ...swapSettings,
  ...quoteSettings,
  ...engineSettings,
  ...settlementSettings,
  ...appBalanceSettings,
  requiredChains: httpSettings.requiredChains,
};

function readConfig(
  processEnv: Env,
  role: ProcessRole,
): { readonly config: ApiConfig; readonly keys: WorkerKeys } {
  const env = withVaultSecrets(processEnv);
  const problems: string[] = [];
  const read = <T>(part: () => T): T | undefined => gather(problems, part);

  const location = read(() => readSettings(locationSettings, env));
  const storage = read(() => readSettings(storageSettings, env));
  const http = read(() => readSettings(httpSettings, env));
  const access = read(() => readSettings(accessSettings, env));
  const push = read(() => readSettings(pushSettings, env));
  const solver = read(() => readSettings(solverSettings, env));
  const price = read(() => readSettings(priceSettings, env));
  const token = read(() => readSettings(tokenSettings, env));
  const swap = read(() => readSettings(swapSettings, env));
  const quote = read(() => readSettings(quoteSettings, env));
  const engine = read(() => readSettings(engineSettings, env));
  const settling = read(() => readSettings(settlementSettings, env));
  const balances = read(() => readSettings(appBalanceSettings, env));
  const permits = read(() => readSettings(permitSettings, env));
  // What is right of them, for checks between settings: one setting that is wrong hides no other problem.
  const valid = validSettings(crossChecked, env);
  const loaded = location && read(() => readChains({ ...location, env }));
  problems.push(...(loaded?.problems ?? []));
  const rails =
    location && loaded && loaded.rails.length > 0
      ? read(() => railConfigs(loaded.rails, loadAttestationChains({ ...location, env }).chains))
      : [];
  const fixedPrices =
    location && valid.priceSource === "fixed" ? read(() => loadFixedPrices(location)) : undefined;
  const prices = price && priceConfig(price, fixedPrices);
  const { oracleUrls } = valid;
  const oracles = oracleUrls && read(() => readOracleUrls(oracleUrls.reveal()));
  const hub = location && oracleUrls && read(() => settlementHub({ ...location, env }));

  const own = read(() => readOwnAccounts(role, valid, loaded?.rails ?? []));
  if (location && location.environment !== LOCAL)
    problems.push(...publicKeyProblems(valid, location.environment));
  problems.push(...contradictions(valid));
  for (const [name, token] of [
    ["OPERATOR_TOKEN", valid.operatorToken],
    ["METRICS_TOKEN", valid.metricsToken],
  ] as const)
    if (token && token.reveal().length < SHORTEST_TOKEN)
      problems.push(`${name} must have at least ${SHORTEST_TOKEN} characters`);
  if (location && location.environment !== LOCAL && valid.operatorToken?.reveal().startsWith(LOCAL_TOKEN))
    problems.push(
      `OPERATOR_TOKEN is the publicly known token of local systems and not allowed in ENVIRONMENT ${location.environment}`,
    );
  problems.push(...tokenListProblems(valid.tokenLists ?? []));
  if (valid.swapAggregatorUrl !== undefined && valid.swapAggregatorName !== undefined && loaded)
    problems.push(...sourceNameProblems(valid.swapAggregatorName, loaded.chains));
  if (loaded) problems.push(...chainProblems(loaded, valid.solverChainName, fixedPrices));
  if (loaded) problems.push(...requiredProblems(valid.requiredChains ?? [], loaded));
  if (loaded && loaded.chains.length + loaded.faulty.length > 0)
    problems.push(
      ...appBalanceProblems(
        valid,
        loaded.chains,
        loaded.faulty.map(({ id }) => id),
      ),
    );
  const unnamed = loaded ? withoutIds(loaded.rails) : [];
  if (hub && hub.hub.genericMappingAddress === undefined)
    problems.push(
      ...unnamed.map((name) => `hub.genericMappingAddress is required because chain ${name} is enabled`),
    );

  const hubChain = loaded?.chains.find(({ id }) => id === hub?.hub.chainId);
  if (hubChain !== undefined)
    problems.push(
      `hub and enabled chain ${hubChain.name} share chainId ${hubChain.id}, so both would allocate nonces of the solver's account; use a separate chain for the hub, or disable ${hubChain.name}`,
    );
  const home = valid.solverChainName ?? loaded?.chains[0]?.name;
  const unknown = unknownVariables(env, apiSettingGroups, env["CONFIGS_DIR"] ?? "configs");
  problems.push(...unknown.problems);
  if (problems.length > 0) throw new ConfigError([...new Set(problems), ...unknown.warnings]);
  if (
    !location ||
    !storage ||
    !http ||
    !access ||
    !push ||
    !solver ||
    !own ||
    !token ||
    !swap ||
    !quote ||
    !engine ||
    !settling ||
    !balances ||
    !permits ||
    !loaded ||
    !rails ||
    !prices ||
    !price ||
    home === undefined
  )
    throw new ConfigError([
      "invariant violated: part of the configuration is missing without a reported problem",
    ]);

  const isGiven = (name: string): boolean => (env[name] ?? "").trim() !== "";
  const settlement = oracles && hub && settlementConfig(hub, oracles, settling, engine);
  const fillPolicy = enginePolicy(engine, settlement);
  const config: ApiConfig = {
    environment: location.environment,
    database: {
      url: storage.databaseUrl,
      poolSize: storage.databasePoolSize,
      statementTimeoutMs: storage.databaseStatementTimeoutMs,
    },
    redis: { url: storage.redisUrl, queuePrefix: storage.queuePrefix },
    http: {
      host: http.httpHost,
      port: http.httpPort,
      bodyLimitBytes: http.bodyLimitBytes,
      trustProxy: http.trustProxy,
      responseCheck: http.responseCheck,
    },
    access: {
      metricsToken: access.metricsToken,
      operatorToken: access.operatorToken,
      limits: rateLimits(access),
    },
    push: {
      connections: {
        maxConnections: push.maxConnections,
        maxPerAddress: push.maxPerAddress,
        maxSubscriptions: push.maxSubscriptions,
        heartbeatMs: push.heartbeatMs,
      },
      webhooks: { allowPrivate: push.webhookAllowPrivate, timeoutMs: push.webhookTimeoutMs },
    },
    healthPort: http.healthPort,
    requiredChains: http.requiredChains,
    logLevel: http.logLevel,
    logFormat: http.logFormat,
    shutdownTimeoutMs: http.shutdownTimeoutMs,
    solver: {
      privateKey: solver.solverPrivateKey,
      chainName: home,
    },
    accounts: own.accounts,
    prices,
    tokenLists: {
      sources: token.tokenLists,
      refreshMs: token.tokenListRefreshMs,
      timeoutMs: token.tokenListTimeoutMs,
    },
    aggregator: aggregatorConfig(swap),
    fees: feePolicy(quote, price),
    maxTtlSeconds: quote.maxTtlSeconds,
    engine: fillPolicy,
    appBalance: appBalancePolicy(balances, loaded.chains),
    permits: { dailyUsd: permits.permitDailyUsd, perUser: permits.permitsPerUser },
    settlement,
    chains: loaded.chains,
    rails,
    offChains: loaded.off,
    warnings: [
      ...unknown.warnings,
      ...loaded.warnings,
      ...own.warnings,
      ...(own.accounts.depositAddressOperator === undefined ? withoutOperator(loaded.chains, role) : []),
      // Elsewhere settlement may begin later; what a transfer without an id was for must be on the hub within
      // the hour.
      ...(settlement === undefined
        ? unnamed.map((name) => `chain ${name}: deposits are never settled because ORACLE_URLS is not set`)
        : []),
      ...leadWarnings(fillPolicy),
      ...(location.environment !== "local" && !isGiven("UNATTRIBUTED_REFUND_AFTER_MS")
        ? [
            "UNATTRIBUTED_REFUND_AFTER_MS is not set, so a deposit with an unknown order is refunded after an hour; set it to 0 if other solvers fill orders of the same depository, otherwise to 3600000",
          ]
        : []),
    ],
  };
  return { config, keys: own.keys };
}

function enginePolicy(
  {
    unrepaidRefundsDailyUsd,
    burntFillsDailyUsd,
    unattributedRefundAfterMs,
    ...engine
  }: SettingValues<typeof engineSettings>,
  settlement: SettlementConfig | undefined,
): EnginePolicy {
  return {
    ...engine,
    unattributedRefundAfterMs: unattributedRefundAfterMs === 0 ? undefined : unattributedRefundAfterMs,
    maxUnpaidBurntUsd: parseUnits(burntFillsDailyUsd, 18),
    maxUnrepaidRefundsUsd: parseUnits(unrepaidRefundsDailyUsd, 18),
    fillLeadMs: settlement && settlement.hub.fillLeadSeconds * 1000,
  };
}

/** 32 characters of hex are 128 bits. */
const SHORTEST_TOKEN = 32;
/** How the local system's own token begins. */
const LOCAL_TOKEN = "local-";

function rateLimits(access: SettingValues<typeof accessSettings>): RateLimitPolicy | undefined {
  if (access.rateLimits === "off") return undefined;
  return {
    key: {
      quote: access.rateLimitQuote,
      status: access.rateLimitStatus,
      other: access.rateLimitOther,
    },
    address: {
      quote: access.rateLimitIpQuote,
      status: access.rateLimitIpStatus,
      other: access.rateLimitIpOther,
    },
    callBytesPerDay: access.rateLimitIpCallBytes,
  };
}

/** Undefined: fixed prices that could not be read, which is a problem of its own. */
function priceConfig(
  price: SettingValues<typeof priceSettings>,
  fixed: ReadonlyMap<string, bigint> | undefined,
): PriceConfig | undefined {
  const bounds = {
    refreshMs: price.priceRefreshMs,
    maxAgeMs: price.priceMaxAgeMs,
    timeoutMs: price.priceTimeoutMs,
  };
  if (price.priceSource === "fixed") return fixed && { ...bounds, source: "fixed", usd: fixed };
  const endpoint = (
    source: PriceEndpointConfig["source"],
    url: string | undefined,
    apiKey: Secret | undefined,
  ): PriceEndpointConfig => ({ source, url: url ?? publicPriceUrls[source], apiKey });
  const { priceSecondSource: second } = price;
  return {
    ...bounds,
    ...endpoint(price.priceSource, price.priceUrl, price.priceApiKey),
    second: second === "none" ? undefined : endpoint(second, price.priceSecondUrl, price.priceSecondApiKey),
  };
}

/** Two sources of one name could not be told apart by whoever names one. */
function sourceNameProblems(name: string, chains: readonly Chain[]): string[] {
  const taken = chains.some(({ liquidity }) => liquidity?.sources.some((source) => source.name === name));
  return taken ? [`SWAP_AGGREGATOR_NAME ${name} is already the name of a chain's swap source`] : [];
}

function aggregatorConfig(swap: SettingValues<typeof swapSettings>): AggregatorConfig | undefined {
  if (swap.swapAggregatorUrl === undefined) return undefined;
  return {
    url: swap.swapAggregatorUrl,
    apiKey: swap.swapAggregatorApiKey,
    name: swap.swapAggregatorName,
    timeoutMs: swap.swapAggregatorTimeoutMs,
  };
}

/** After the first failure the next try waits so long; it doubles from there. */
const SETTLEMENT_RETRY_MS = 1_000;
/** Payments that oracles are asked about at once. */
const SETTLEMENT_CONCURRENCY = 8;

/** A hub whose multisig speaks for the oracles. */
interface SettlementHub {
  readonly hub: AttestationHub;
  readonly multisig: Address;
}

/** @throws ConfigError */
function settlementHub(
  source: SettingValues<typeof locationSettings> & { readonly env: Env },
): SettlementHub {
  const { hub } = loadHub(source);
  const multisig = hub.oracleMultisigAddress;
  if (multisig === undefined)
    throw new ConfigError([
      `chains.hub.${source.environment}.json: oracleMultisigAddress is required for settlement`,
    ]);
  return { hub, multisig };
}

function settlementConfig(
  { hub, multisig }: SettlementHub,
  oracles: readonly OracleUrl[],
  settling: SettingValues<typeof settlementSettings>,
  engine: Pick<EnginePolicy, "rebroadcastIntervalMs" | "bumpBps" | "maxAttempts">,
): SettlementConfig {
  return {
    hub,
    multisig,
    oracles,
    signers: settling.oracleSigners?.split(";").flatMap((text) => parseAddress(text) ?? []),
    oracleTimeoutMs: settling.oracleTimeoutMs,
    policy: {
      intervalMs: settling.settlementIntervalMs,
      retryMs: SETTLEMENT_RETRY_MS,
      maxRetryMs: settling.settlementMaxRetryMs,
      rejectedRetryMs: settling.settlementRejectedRetryMs,
      concurrency: SETTLEMENT_CONCURRENCY,
      batchSize: settling.settlementBatchSize,
      stuckAfterMs: settling.settlementStuckAfterMs,
      rebroadcastIntervalMs: engine.rebroadcastIntervalMs,
      bumpBps: engine.bumpBps,
      maxAttempts: engine.maxAttempts,
    },
  };
}

/** Settings that are right by themselves and contradict one another. */
function contradictions(valid: Partial<SettingValues<typeof crossChecked>>): readonly string[] {
  const isBelow = (smaller: number | undefined, larger: number | undefined): boolean =>
    smaller !== undefined && larger !== undefined && smaller < larger;
  const { fillGraceSeconds, cancelAfterDeadlineMs } = valid;
  return [
    ...(isBelow(valid.maxTtlSeconds, valid.orderLifetimeSeconds)
      ? ["QUOTE_MAX_TTL_SECONDS must be at least ORDER_LIFETIME_SECONDS"]
      : []),
    ...(fillGraceSeconds !== undefined &&
    cancelAfterDeadlineMs !== undefined &&
    fillGraceSeconds * 1000 < 2 * cancelAfterDeadlineMs
      ? [
          "FILL_GRACE_SECONDS must be at least twice TX_CANCEL_AFTER_DEADLINE_MS, so that an order does not end while its fill can still be mined",
        ]
      : []),
    ...(isBelow(valid.priceMaxAgeMs, valid.priceRefreshMs)
      ? ["PRICE_MAX_AGE_MS must be at least PRICE_REFRESH_MS"]
      : []),
  ];
}

/** Whoever can change a list on its way decides what counts as verified. */
function tokenListProblems(sources: readonly string[]): string[] {
  const isOpen = (source: string): boolean =>
    /^[a-z][a-z0-9+.-]*:\/\//i.test(source) &&
    !setting.isUrlOf(source, ["https"]) &&
    !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(source);
  return sources.some(isOpen) ? ["TOKEN_LISTS must be file paths or https URLs"] : [];
}

function feePolicy(
  quote: SettingValues<typeof quoteSettings>,
  { priceVolatileMaxAgeMs }: SettingValues<typeof priceSettings>,
): FeePolicy {
  return {
    serviceBps: {
      sameAsset: quote.sameAssetFeeBps,
      wrap: quote.wrapFeeBps,
      stable: quote.stableFeeBps,
      major: quote.majorFeeBps,
      minor: quote.minorFeeBps,
    },
    automaticSlippageBps: {
      sameAsset: quote.sameAssetSlippageBps,
      wrap: quote.wrapSlippageBps,
      stable: quote.stableSlippageBps,
      major: quote.majorSlippageBps,
      minor: quote.minorSlippageBps,
    },
    firmSeconds: quote.firmSeconds,
    maxSwapImpactBps: quote.maxSwapImpactBps,
    honourBps: quote.honourBps,
    orderLifetimeSeconds: quote.orderLifetimeSeconds,
    fillGraceSeconds: quote.fillGraceSeconds,
    refundGraceSeconds: quote.refundGraceSeconds,
    refundGasMarginBps: quote.refundGasMarginBps,
    maxVolatilePriceAgeMs: priceVolatileMaxAgeMs,
  };
}

/** @throws ConfigError for a chain that no oracle could read */
function railConfigs(
  chains: readonly RailChain[],
  attested: readonly AttestationChain[],
): readonly RailConfig[] {
  return chains.map((chain) => {
    const attestation = attested.find(({ name }) => name === chain.name);
    if (attestation === undefined)
      throw new ConfigError([`chain ${chain.name}: the chain file has no attestation entry`]);
    return { chain, attestation };
  });
}

function withoutOperator(chains: readonly Chain[], role: ProcessRole): readonly string[] {
  const missing =
    role === "api" ? "DEPOSIT_ADDRESS_OPERATOR_ADDRESS" : "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY";
  return chains.flatMap(({ name, contracts }) =>
    contracts.depositAddressFactory === undefined
      ? []
      : [
          `chain ${name}: no deposit addresses are issued, and funds at issued ones are not moved, because ${missing} is not set`,
        ],
  );
}

/** Chains whose transfers carry no id: oracles know from the hub alone what one was for. */
function withoutIds(rails: readonly RailChain[]): readonly string[] {
  return rails.flatMap(({ vmType, name }) => (vmType === "hypevm" ? [name] : []));
}

function requiredProblems(
  required: readonly string[],
  { chains, rails, faulty }: ReadChains,
): readonly string[] {
  const names = [...chains, ...rails, ...faulty].map(({ name }) => name);
  return required
    .filter((name) => !names.includes(name))
    .map((name) => `READINESS_CHAINS: ${name} is not an enabled chain`);
}

function chainProblems(
  { chains, rails, warnings, off, faulty }: ReadChains,
  homeName: string | undefined,
  fixedPrices: ReadonlyMap<string, bigint> | undefined,
): readonly string[] {
  if (chains.length + faulty.length === 0) return noChainProblems({ warnings, off });
  const problems: string[] = [];
  if (homeName !== undefined && ![...chains, ...faulty].some(({ name }) => name === homeName))
    problems.push("SOLVER_CHAIN_NAME must be the name of an enabled chain");
  if (fixedPrices !== undefined) {
    // What the solver holds must have one; what any other token is worth is learnt from its pools.
    const held = [...chains, ...rails].flatMap((chain) =>
      [chain.native, ...chain.tokens].filter(({ supportsBridging }) => supportsBridging),
    );
    const wanted = new Set(held.map(({ priceId }) => priceId));
    for (const priceId of wanted)
      if (!fixedPrices.has(priceId))
        problems.push(`price file: price of ${priceId}, used by a currency, is missing`);
  }
  return problems;
}
