// An API process with the real feed, store and sockets; its other routes have no services. Reports its port
// to its parent.
import { Secret } from "@causeway/config";
import { createLifecycle, createLogger, createMetrics } from "@causeway/service-kit";
import type { AddressInfo } from "node:net";
import { createPool, sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { loggedEvents } from "../../apps/api/src/telemetry/logged-events.ts";
import { startPush } from "../../apps/api/src/push/push.wiring.ts";
import { buildServer } from "../../apps/api/src/process/server.ts";
import { fakeRouteServices } from "../../test/fakes/route-services.ts";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";

const [databaseUrl = "", maxConnections = ""] = process.argv.slice(2);
const log = createLogger({ name: "push bench", level: "warn" });
const metrics = createMetrics("push-bench");
const pool = createPool(databaseUrl, { max: 10, statementTimeoutMs: 30_000, applicationName: "push bench" });
const connections = {
  maxConnections: Number(maxConnections),
  maxPerAddress: Number(maxConnections),
  maxSubscriptions: 100,
  heartbeatMs: 20_000,
};
const clock = { nowMs: () => Date.now() };
const { push } = startPush({
  clock,
  events: loggedEvents(log, metrics.registry),
  chains: createChainDirectory([]),
  config: {
    database: { url: new Secret(databaseUrl), poolSize: 10, statementTimeoutMs: 30_000 },
    push: { connections, webhooks: { allowPrivate: false, timeoutMs: 1_000 } },
    http: { host: "", port: 0, bodyLimitBytes: 1_024, trustProxy: false, responseCheck: false },
  },
  sql: sqlOn(pool),
  lifecycle: createLifecycle(log, 1_000),
});
const app = await buildServer(
  { ...fakeRouteServices({ push, clock }), log, metrics },
  { interactiveDocumentation: false },
);
await app.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 });
process.send?.({ port: (app.server.address() as AddressInfo).port });
process.on("disconnect", () => process.exit());
