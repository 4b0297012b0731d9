import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig } from "../config/config.ts";
import type { ServerWatch } from "../db/server-watch.postgres.ts";
import { connectJournal } from "./payment-journal.adapter.ts";
import type { PaymentJournal } from "./payment-journal.port.ts";

/** The journal of payments, in the Redis of the queues. */
export async function startJournal({
  config,
  servers,
  lifecycle,
}: {
  readonly config: Pick<ApiConfig, "redis">;
  readonly servers: ServerWatch;
  readonly lifecycle: Lifecycle;
}): Promise<PaymentJournal> {
  const { endpoint, keyPrefix } = config.redis;
  const journal = await connectJournal(endpoint, keyPrefix, servers.identity);
  lifecycle.add("payment journal", async () => journal.close());
  return journal;
}
