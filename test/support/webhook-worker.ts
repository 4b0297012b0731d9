// A worker that only delivers webhooks, to be killed by a test. Its clock is AHEAD_MS ahead. It prints
// `ready`.
import { Secret } from "@causeway/config";
import { createLifecycle, createLogger } from "@causeway/service-kit";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { startWebhooks } from "../../apps/api/src/push/push.wiring.ts";
import { noChains } from "../fakes/no-chains.ts";
import { recordedEvents } from "../fakes/recorded-events.ts";

const url = process.env["DATABASE_URL"] ?? "";
const aheadMs = Number(process.env["AHEAD_MS"]);
const pool = createPool(url, { max: 2, statementTimeoutMs: 10_000, applicationName: "killed worker" });
startWebhooks({
  clock: { nowMs: () => Date.now() + aheadMs },
  events: recordedEvents(),
  chains: noChains,
  config: {
    database: { url: new Secret(url), poolSize: 2, statementTimeoutMs: 10_000 },
    push: {
      connections: { maxConnections: 1, maxPerAddress: 1, maxSubscriptions: 1, heartbeatMs: 1_000 },
      webhooks: { allowPrivate: true, timeoutMs: 5_000 },
    },
    http: { host: "", port: 0, bodyLimitBytes: 1, trustProxy: false, responseCheck: false },
  },
  sql: sqlOn(pool),
  lifecycle: createLifecycle(createLogger({ name: "worker", level: "silent" }), 1_000),
});
process.stdout.write("ready\n");
