import { createLifecycle, createLogger, createMetrics, runUntilSignal } from "@causeway/service-kit";
import { readApiConfig } from "./config.ts";
import { createContainer } from "./container.ts";
import { buildServer } from "./server.ts";

const config = readApiConfig(process.env);
const log = createLogger({ name: "causeway-api", level: config.logLevel });
const metrics = createMetrics("causeway-api");
const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);

await runUntilSignal({
  log,
  lifecycle,
  start: async () => {
    for (const warning of config.warnings) log.warn({ event: "configuration", warning });
    const container = await createContainer(config, { log, metrics }, lifecycle);
    const { http } = config;
    const server = await buildServer(
      { log, metrics, ...(await container.routes()) },
      {
        trustProxy: typeof http.trustProxy === "boolean" ? http.trustProxy : [...http.trustProxy],
        bodyLimitBytes: http.bodyLimitBytes,
        checkResponses: http.responseCheck,
      },
    );
    lifecycle.add("http", () => server.close());
    const url = await server.listen({ host: http.host, port: http.port });
    log.info({ event: "listening", url });
  },
});
