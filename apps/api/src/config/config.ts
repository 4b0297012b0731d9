import type { Env, NonEvmChainConfig } from "@causeway/config";
import {
  deepFreeze,
  gather,
  loadFixedPrices,
  readChains,
  readGroups,
  readSettings,
  requireAll,
  traceTarget,
  unknownVariables,
  validGroups,
  withVaultSecrets,
} from "@causeway/config";
import type { Chain, FeePolicy } from "@causeway/domain";
import type { TraceTarget } from "@causeway/service-kit";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { EnginePolicy } from "../db/engine-policy.port.ts";
import { leadWarnings } from "../deposits/index.ts";
import { accessConfig, tokenProblems } from "./access.ts";
import type { AccessConfig } from "./access.ts";
import { appBalancePolicy, appBalanceProblems } from "./app-balance.ts";
import {
  chainProblems,
  depositAddressWarnings,
  hubProblems,
  neverSettledWarnings,
  requiredChainProblems,
} from "./chains.ts";
import { enginePolicy } from "./engine.ts";
import { httpConfig } from "./http.ts";
import type { HttpConfig } from "./http.ts";
import { readKeyServices } from "./key-services.ts";
import type { KeyServices } from "./key-services.ts";
import type { SigningKey } from "./key-source.ts";
import { readOracleUrls } from "./oracle-urls.ts";
import { readSignerEndpoint, spendingKeyProblems } from "./order-signing.ts";
import type { OrderSigning } from "./order-signing.ts";
import { publicKeyProblems, readOwnAccounts } from "./own-accounts.ts";
import type { ConfiguredKeys, OwnAccounts, WorkerKeys } from "./own-accounts.ts";
import { noticeConfig } from "./notices.ts";
import type { NoticeConfig } from "./notices.ts";
import { permitConfig } from "./permits.ts";
import type { PermitConfig } from "./permits.ts";
import { priceConfig, priceProblems } from "./prices.ts";
import type { PriceConfig } from "./prices.ts";
import { pushConfig } from "./push.ts";
import type { PushConfig } from "./push.ts";
import { feePolicy, quoteProblems } from "./quotes.ts";
import { readRedisEndpoint } from "./redis-endpoint.ts";
import { removedSettings } from "./removed-settings.ts";
import type { ProcessRole } from "./resolve-accounts.ts";
import { apiSettingGroups, locationSettings, settingGroups } from "./settings.ts";
import type { SpendingLimit } from "../payments/policy/limits.port.ts";
import { readSettlementHub, settlementConfig } from "./settlement.ts";
import type { SettlementConfig } from "./settlement.ts";
import { readSpendingLimits } from "./spending-limits.ts";
import { storageConfig } from "./storage.ts";
import type { StorageConfig } from "./storage.ts";
import { aggregatorConfig, aggregatorProblems } from "./swaps.ts";
import type { AggregatorConfig } from "./swaps.ts";
import { tokenListConfig, tokenListProblems } from "./tokens.ts";
import type { TokenListConfig } from "./tokens.ts";

export type { NonEvmChainConfig } from "@causeway/config";
export type { PriceEndpointConfig } from "./prices.ts";
export type { SettlementConfig } from "./settlement.ts";
export type { AggregatorConfig } from "./swaps.ts";
export type { TokenListConfig } from "./tokens.ts";

/** The environment in which everything runs on one machine, with keys that anyone can compute. */
const LOCAL = "local";

/** The configuration of the API. Frozen. Its only key is the solver's, if it signs orders itself. */
export interface ApiConfig extends StorageConfig {
  readonly environment: string;
  readonly http: HttpConfig;
  readonly access: AccessConfig;
  readonly push: PushConfig;
  readonly notices: NoticeConfig;
  /** Undefined: no traces. */
  readonly traces: TraceTarget | undefined;
  readonly healthPort: number;
  /** Names of the chains that must be followed for a process to be ready. */
  readonly requiredChains: readonly string[];
  readonly logFormat: "json" | "pretty";
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  readonly shutdownTimeoutMs: number;
  readonly solver: {
    readonly chainName: string;
  };
  readonly accounts: OwnAccounts;
  /** Always set in the API. */
  readonly orderSigning: OrderSigning | undefined;
  readonly keyServices: KeyServices;
  readonly prices: PriceConfig;
  readonly tokenLists: TokenListConfig;
  /** Undefined: swaps use pools only. */
  readonly aggregator: AggregatorConfig | undefined;
  readonly fees: FeePolicy;
  /** Maximum `ttl` of a quote request. */
  readonly maxTtlSeconds: number;
  readonly engine: EnginePolicy;
  readonly appBalance: AppBalancePolicy;
  readonly permits: PermitConfig;
  /** Undefined: payments are not settled. */
  readonly settlement: SettlementConfig | undefined;
  /** Enabled EVM chains, at least one. */
  readonly chains: readonly Chain[];
  /** Enabled non-EVM chains. */
  readonly nonEvmChains: readonly NonEvmChainConfig[];
  /** Names of chains that are disabled because none of their variables is set. */
  readonly offChains: readonly string[];
  /** Logged at start. */
  readonly warnings: readonly string[];
}

/** The configuration of the worker: the API's configuration and the keys that pay. Frozen. */
export interface WorkerConfig extends ApiConfig {
  readonly keys: WorkerKeys;
  /** Limits on what the keys sign. Empty: no limits. */
  readonly spendingLimits: readonly SpendingLimit[];
}

/**
 * The configuration of the operator's commands: the API's configuration and, if set, the solver's key.
 * Frozen.
 */
export interface OperatorConfig extends ApiConfig {
  readonly solverKey: SigningKey | undefined;
}

/**
 * Reads the environment, the secrets directory and the files in `CONFIGS_DIR`.
 * @throws ConfigError with all problems; none contains a secret
 */
export function readApiConfig(processEnv: Env): ApiConfig {
  return deepFreeze(readConfig(processEnv, "api").config);
}

/**
 * Like {@link readApiConfig}, for the worker, which does not need the operator's token. @throws ConfigError
 */
export function readWorkerConfig(processEnv: Env): WorkerConfig {
  const { config, keys, spendingLimits } = readConfig(processEnv, "worker");
  const { solver } = keys;
  if (solver === undefined) throw new Error("invariant violated: no solver key in a worker");
  const access = { ...config.access, operatorToken: undefined };
  return deepFreeze({ ...config, access, keys: { ...keys, solver }, spendingLimits });
}

/**
 * Like {@link readApiConfig}, for the operator's commands, which need a key only to withdraw. @throws
 * ConfigError
 */
export function readOperatorConfig(processEnv: Env): OperatorConfig {
  const { config, keys } = readConfig(processEnv, "operator");
  return deepFreeze({ ...config, solverKey: keys.solver });
}

function readConfig(
  processEnv: Env,
  role: ProcessRole,
): {
  readonly config: ApiConfig;
  readonly keys: ConfiguredKeys;
  readonly spendingLimits: readonly SpendingLimit[];
} {
  const env = withVaultSecrets(processEnv);
  const parts = readParts(env, role);
  const { settings, loaded, ownAccounts } = parts;
  const settlement =
    parts.hub && parts.oracles && settlementConfig(parts.hub, parts.oracles, settings.settlement);
  const engine = enginePolicy(settings.engine, settlement && settlement.hub.fillLeadSeconds * 1000);
  const config: ApiConfig = {
    environment: settings.location.environment,
    ...storageConfig(settings.storage, parts.redis),
    http: httpConfig(settings.http),
    access: accessConfig(settings.access),
    push: pushConfig(settings.push),
    notices: parts.notices,
    traces: parts.traces.target,
    healthPort: settings.http.healthPort,
    requiredChains: settings.http.requiredChains,
    logLevel: settings.http.logLevel,
    logFormat: settings.http.logFormat,
    shutdownTimeoutMs: settings.http.shutdownTimeoutMs,
    solver: { chainName: parts.solverChainName },
    accounts: ownAccounts.accounts,
    orderSigning:
      parts.signerEndpoint ?? (ownAccounts.keys.solver && { kind: "key", key: ownAccounts.keys.solver }),
    keyServices: parts.keyServices,
    prices: parts.prices,
    tokenLists: tokenListConfig(settings.tokens),
    aggregator: aggregatorConfig(settings.swaps),
    fees: feePolicy(settings.quotes, settings.prices),
    maxTtlSeconds: settings.quotes.maxTtlSeconds,
    engine,
    appBalance: appBalancePolicy(settings.appBalance, loaded.chains),
    permits: permitConfig(settings.permits),
    settlement,
    chains: loaded.chains,
    nonEvmChains: loaded.nonEvmConfigs,
    offChains: loaded.unconfiguredChains,
    warnings: [
      ...parts.warnings,
      ...loaded.warnings,
      ...ownAccounts.warnings,
      ...(role === "api" ? keyServiceWarnings(ownAccounts.keys) : []),
      ...(ownAccounts.accounts.depositAddressOperator === undefined
        ? depositAddressWarnings(loaded.chains, role)
        : []),
      ...(settlement === undefined ? neverSettledWarnings(loaded.nonEvmChains) : []),
      ...leadWarnings(engine),
      ...unattributedRefundWarnings(settings.location.environment, env),
      ...(role === "worker" && parts.spendingLimits.length === 0
        ? spendingWarnings(settings.location.environment)
        : []),
    ],
  };
  return { config, keys: ownAccounts.keys, spendingLimits: parts.spendingLimits };
}

/**
 * Reads and checks all settings. Checks across settings use only the valid ones, so that an invalid setting
 * does not hide other problems.
 * @throws ConfigError with all problems
 */
function readParts(env: Env, role: ProcessRole) {
  const problems: string[] = [];
  const read = <T>(part: () => T): T | undefined => gather(problems, part);

  const settings = read(() => readGroups(settingGroups, env));
  const valid = validGroups(settingGroups, env);
  const location = gather([], () => readSettings(locationSettings, env));
  const source = location && { ...location, env };
  const publicEnvironment = location?.environment === LOCAL ? undefined : location?.environment;

  const loaded = source && read(() => readChains(source));
  problems.push(...(loaded?.problems ?? []));
  const fixedPrices =
    source && valid.prices.priceSource === "fixed" ? read(() => loadFixedPrices(source)) : undefined;
  const prices = settings && priceConfig(settings.prices, fixedPrices);
  const redis = read(() => readRedisEndpoint(valid.storage, env));
  const { oracleUrls } = valid.settlement;
  const oracles = oracleUrls && read(() => readOracleUrls(oracleUrls.reveal()));
  const notices = read(() => noticeConfig({ notifyUrls: valid.notices.notifyUrls }));
  const { tracesEndpoint, tracesHeaders } = valid.traces;
  const traces = read(() => ({ target: traceTarget({ tracesEndpoint, tracesHeaders }) }));
  const hub = source && oracleUrls && read(() => readSettlementHub(source));
  const ownAccounts = read(() => readOwnAccounts(role, valid.solver, loaded?.nonEvmChains ?? []));
  const signerEndpoint = read(() => readSignerEndpoint(valid.solver));
  const keyServices = settings && read(() => readKeyServices(settings.keyServices, env));

  if (publicEnvironment !== undefined) {
    problems.push(...publicKeyProblems(valid.solver, publicEnvironment));
    if (role === "api") problems.push(...spendingKeyProblems(valid.solver, publicEnvironment));
  }
  problems.push(
    ...quoteProblems(valid.quotes),
    ...priceProblems(valid.prices),
    ...tokenProblems(valid.access, publicEnvironment),
    ...tokenListProblems(valid.tokens),
  );
  if (loaded)
    problems.push(
      ...aggregatorProblems(valid.swaps, loaded.chains),
      ...chainProblems(loaded, valid.solver.solverChainName, fixedPrices),
      ...requiredChainProblems(valid.http.requiredChains ?? [], loaded),
      ...appBalanceProblems(valid.appBalance, loaded),
    );
  const spendingLimits =
    loaded &&
    read(() => {
      const ids = [...loaded.chains, ...loaded.nonEvmChains].map(({ id }) => id);
      const text = valid.solver.spendingLimits;
      return text === undefined ? [] : readSpendingLimits(text, hub ? [...ids, hub.hub.chainId] : ids);
    });
  if (hub && loaded) problems.push(...hubProblems(hub, loaded));
  const solverChainName = valid.solver.solverChainName ?? loaded?.chains[0]?.name;

  const unknown = unknownVariables(env, apiSettingGroups, env["CONFIGS_DIR"] ?? "configs", removedSettings);
  problems.push(...unknown.problems);
  // Warnings are logged at start; a start that fails shows them too.
  const reported = problems.length > 0 ? [...new Set(problems), ...unknown.warnings] : [];
  return {
    ...requireAll(
      {
        settings,
        loaded,
        prices,
        redis,
        ownAccounts,
        solverChainName,
        notices,
        traces,
        keyServices,
        spendingLimits,
      },
      reported,
    ),
    signerEndpoint,
    oracles,
    hub,
    warnings: unknown.warnings,
  };
}

/** A key service signs any digest that it receives, including the digest of a payment. */
function keyServiceWarnings({ solver }: ConfiguredKeys): readonly string[] {
  if (solver === undefined || solver.source.kind === "raw") return [];
  return [
    "SOLVER_SIGNER is set in the API: an attacker in the API can have payments signed. Set ORDER_SIGNER_URL instead, or limit what the signer accepts from the API",
  ];
}

function spendingWarnings(environment: string): readonly string[] {
  if (environment === LOCAL) return [];
  return [
    "SPENDING_LIMITS is not set, so nothing limits what a compromised worker can sign in a day. Set transactionUsd and dayUsd for each key",
  ];
}

function unattributedRefundWarnings(environment: string, env: Env): readonly string[] {
  const isSet = (env["UNATTRIBUTED_REFUND_AFTER_MS"] ?? "").trim() !== "";
  if (environment === LOCAL || isSet) return [];
  return [
    "UNATTRIBUTED_REFUND_AFTER_MS is not set, so a deposit with an unknown order is refunded automatically after an hour. If other solvers fill deposits of the same depository, set it to 0, which turns these refunds off; otherwise set it to 3600000 to confirm the hour",
  ];
}
