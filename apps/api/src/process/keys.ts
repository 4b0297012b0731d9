import { connectEvmChain } from "@causeway/chains";
import type { ChainConnection } from "@causeway/chains";
import { ConfigError, type Env } from "@causeway/config";
import { accountSignatures } from "../chains/signatures.adapter.ts";
import { apiKeyRegister } from "../callers/api-key-register.postgres.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { readOperatorConfig } from "../config/config.ts";
import { readDatabaseUrl } from "../config/database-url.ts";
import type { OpenKeys } from "./commands/keys-command.ts";
import { keyAdmin } from "../callers/key-admin.ts";

/**
 * The dependencies of `operator keys`: the database. Only the signature of a contract wallet also needs the
 * home chain, and with it the worker's environment.
 * @throws ConfigError without a database
 */
export function openKeys(env: Env): ReturnType<OpenKeys> {
  const pool = createPool(readDatabaseUrl(env), {
    max: 1,
    statementTimeoutMs: 30_000,
    applicationName: "causeway operator",
  });
  let home: ChainConnection | undefined;
  const homeChain = (): ChainConnection => {
    home ??= connectHome(env);
    return home;
  };
  return {
    admin: keyAdmin({
      register: apiKeyRegister(sqlOn(pool)),
      clock: { nowMs: () => Date.now() },
      random: pooledRandomBytes(),
      signatures: accountSignatures({ ask: async (to, data) => await homeChain().reader.ask(to, data) }),
    }),
    async close() {
      await Promise.all([pool.end(), home?.close()]);
    },
  };
}

function connectHome(env: Env): ChainConnection {
  const { chains, appBalance } = readOperatorConfig(env);
  const chain = chains.find(({ id }) => id === appBalance.chainId);
  if (chain === undefined)
    throw new ConfigError(["APP_BALANCE_CHAIN_ID must be the chain id of an enabled chain"]);
  return connectEvmChain(chain);
}
