import {
  gather,
  loadFixedPrices,
  readChains,
  readSettings,
  validGroups,
  withVaultSecrets,
  type Env,
  type NonEvmChainConfig,
} from "@causeway/config";
import type { Address, Chain } from "@causeway/domain";
import { parseAddress } from "@causeway/domain";
import { readApiConfig, readWorkerConfig } from "../../config/config.ts";
import { noticeConfig, type NoticeConfig } from "../../config/notices.ts";
import { readOracleUrls, type OracleUrl } from "../../config/oracle-urls.ts";
import { readSignerEndpoint, type SignerEndpoint } from "../../config/order-signing.ts";
import { readOwnAccounts, type OwnAccounts } from "../../config/own-accounts.ts";
import { priceConfig, type PriceConfig } from "../../config/prices.ts";
import { readRedisEndpoint } from "../../config/redis-endpoint.ts";
import { locationSettings, settingGroups } from "../../config/settings.ts";
import type { RedisEndpoint } from "../../db/redis-endpoint.port.ts";
import { readSettlementHub, type SettlementHub } from "../../config/settlement.ts";

/** The process whose environment is checked. */
export type CheckedProcess = "api" | "worker";

/** The parts of the configuration to check. Invalid parts are missing here and described in `problems`. */
export interface Subjects {
  /** Whether everything runs on one machine, so that quiet chains and plain accounts are normal. */
  readonly isLocal: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly poolSize: number;
  readonly redis: RedisEndpoint | undefined;
  readonly queuePrefix: string;
  readonly chains: readonly Chain[];
  readonly nonEvmChains: readonly NonEvmChainConfig[];
  readonly accounts: OwnAccounts | undefined;
  readonly prices: PriceConfig | undefined;
  readonly volatileMaxAgeMs: number;
  readonly hub: SettlementHub | undefined;
  readonly oracles: readonly OracleUrl[];
  /** Undefined: every signer of the hub counts. */
  readonly oracleSigners: readonly Address[] | undefined;
  readonly notices: NoticeConfig;
  readonly signer: SignerEndpoint | undefined;
}

/**
 * Reads the configuration as the process does. If it is invalid, also reads every part that is valid by
 * itself: one invalid setting must not hide other faults.
 */
export function readSubjects(checked: CheckedProcess, processEnv: Env): Subjects {
  const problems: string[] = [];
  const config = gather(problems, () =>
    checked === "api" ? readApiConfig(processEnv) : readWorkerConfig(processEnv),
  );
  const env = withVaultSecrets(processEnv);
  const valid = validGroups(settingGroups, env);
  const read = <T>(part: () => T): T | undefined => gather([], part);
  const location = read(() => readSettings(locationSettings, env));
  const source = location && { ...location, env };
  const loaded = source && read(() => readChains(source));
  const { oracleUrls, oracleSigners } = valid.settlement;
  const oracles = (oracleUrls && read(() => readOracleUrls(oracleUrls.reveal()))) ?? [];
  return {
    isLocal: location?.environment === "local",
    problems,
    warnings: config?.warnings ?? [],
    databaseUrl: valid.storage.databaseUrl?.reveal(),
    poolSize: valid.storage.databasePoolSize ?? 16,
    redis: read(() => readRedisEndpoint(valid.storage, env)),
    queuePrefix: valid.storage.queuePrefix ?? "causeway",
    chains: loaded?.chains ?? [],
    nonEvmChains: loaded?.nonEvmConfigs ?? [],
    accounts:
      config?.accounts ??
      read(() => readOwnAccounts(checked, valid.solver, loaded?.nonEvmChains ?? []).accounts),
    prices: config?.prices ?? (source && pricesOf(source, env)),
    volatileMaxAgeMs: valid.prices.priceVolatileMaxAgeMs ?? 90_000,
    hub: source && oracles.length > 0 ? read(() => readSettlementHub(source)) : undefined,
    oracles,
    oracleSigners: oracleSigners?.split(";").flatMap((text) => parseAddress(text) ?? []),
    notices: read(() => noticeConfig({ notifyUrls: valid.notices.notifyUrls })) ?? { channels: [] },
    signer: checked === "api" ? read(() => readSignerEndpoint(valid.solver))?.endpoint : undefined,
  };
}

/** The source of prices, if its own settings are valid. */
function pricesOf(
  source: { readonly environment: string; readonly configsDir: string },
  env: Env,
): PriceConfig | undefined {
  return gather([], () => {
    const settings = readSettings(settingGroups.prices, env);
    const fixed = settings.priceSource === "fixed" ? loadFixedPrices({ ...source }) : undefined;
    return priceConfig(settings, fixed);
  });
}
