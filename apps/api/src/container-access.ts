import type { Lifecycle } from "@causeway/service-kit";
import { knownKeys } from "./adapters/keys/known-keys.ts";
import { idempotencyStore } from "./adapters/postgres/idempotency-store.ts";
import { listen } from "./adapters/postgres/listen.ts";
import type { Sql } from "./adapters/postgres/pool.ts";
import { API_KEYS_CHANNEL, storedKeys } from "./adapters/postgres/stored-keys.ts";
import { tickBatcher } from "./adapters/postgres/tick-batcher.ts";
import type { RouteServices } from "./ports/route-services.ts";
import type { Services } from "./ports/services.ts";

/** One query at a time, whatever is asked: keys that somebody makes up are read as cheaply as can be. */
const KEY_READS = { inFlight: 1, maxBatch: 500 };

/** What the routes know callers by: their keys and what they have asked before. */
export function accessServices(
  { clock, events }: Pick<Services, "clock" | "events">,
  {
    sql,
    databaseUrl,
    lifecycle,
  }: { readonly sql: Sql; readonly databaseUrl: string; readonly lifecycle: Lifecycle },
): Pick<RouteServices, "apiKeys" | "idempotency" | "clock"> {
  const apiKeys = knownKeys(tickBatcher(storedKeys(sql), KEY_READS), { clock });
  const listener = listen(databaseUrl, API_KEYS_CHANNEL, {
    onNotice: (id) => (id === undefined ? apiKeys.forgetAll() : apiKeys.forget(id)),
    onFault: (error) => events.fault("api_keys_fault", error, { part: "listen" }),
  });
  lifecycle.add("API keys", () => listener.close());
  return { apiKeys, idempotency: idempotencyStore(sql), clock };
}
