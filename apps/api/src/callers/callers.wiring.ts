import type { Lifecycle } from "@causeway/service-kit";
import { accountSignatures } from "../chains/signatures.adapter.ts";
import type { ApiConfig } from "../config/config.ts";
import { listen } from "../db/listen.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import type { Services } from "../db/services.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { ApiKeys } from "../http/api-keys.port.ts";
import type { SearchLimiter, Usage } from "../http/usage.port.ts";
import { homeChain } from "../balances/balances.wiring.ts";
import { mayDeleteByAge } from "../markets/index.ts";
import { apiKeyRegister } from "./api-key-register.postgres.ts";
import type { KeyAdmin } from "./key-admin.port.ts";
import { keyAdmin } from "./key-admin.ts";
import { knownKeys } from "./known-keys.adapter.ts";
import { API_KEYS_CHANNEL, storedKeys } from "./stored-keys.postgres.ts";
import { usageCounter } from "./usage-counter.postgres.ts";

/** One query at a time, so that unknown keys cost as little as possible. */
const KEY_READS = { inFlight: 1, maxBatch: 500 };

interface CallerNeeds extends Pick<Services, "chains" | "clock" | "events" | "appBalance" | "reads"> {
  readonly config: Pick<ApiConfig, "database">;
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
}

/** API keys, kept in memory until another process announces a change, and their administration and usage. */
export function startCallers(
  needs: CallerNeeds,
  searches: { readonly sql: Sql; readonly limiter: SearchLimiter },
): { readonly apiKeys: ApiKeys; readonly keyAdmin: KeyAdmin; readonly usage: Usage } {
  const { config, sql, clock, events, lifecycle } = needs;
  const apiKeys = knownKeys(tickBatcher(storedKeys(sql), KEY_READS), { clock });
  const listener = listen(config.database.url.reveal(), API_KEYS_CHANNEL, {
    onNotice: (id) => (id === undefined ? apiKeys.forgetAll() : apiKeys.forget(id)),
    onFault: (error) => events.fault("api_keys_fault", error, { part: "listen" }),
  });
  lifecycle.add("API keys", () => listener.close());
  const usage = usageCounter(sql, {
    searches,
    clock,
    mayDeleteByAge: async () => await mayDeleteByAge(needs),
    onFault: (error) => events.fault("usage_fault", error, {}),
  });
  lifecycle.add("usage", () => usage.close());
  return {
    apiKeys,
    keyAdmin: keyAdmin({
      register: apiKeyRegister(sql),
      clock,
      random: pooledRandomBytes(),
      signatures: accountSignatures(homeChain(needs).connection.reader),
    }),
    usage,
  };
}
