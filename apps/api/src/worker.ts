import { createLifecycle, createLogger, createMetrics, runUntilSignal } from "@causeway/service-kit";
import { readApiConfig } from "./config.ts";
import { createContainer } from "./container.ts";
import { buildHealthServer } from "./health-server.ts";
import { readiness } from "./usecases/readiness.ts";

const config = readApiConfig(process.env);
const log = createLogger({ name: "causeway-worker", level: config.logLevel });
const metrics = createMetrics("causeway-worker");
const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);

await runUntilSignal({
  log,
  lifecycle,
  start: async () => {
    for (const warning of config.warnings) log.warn({ event: "configuration", warning });
    const container = await createContainer(config, { log, metrics }, lifecycle);
    await container.work();
    const server = await buildHealthServer({ log, metrics, readiness: () => readiness(container.services) });
    lifecycle.add("http", () => server.close());
    const url = await server.listen({ host: config.http.host, port: config.healthPort });
    log.info({ event: "listening", url });
  },
});
