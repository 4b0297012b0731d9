import { readSettings, setting } from "@causeway/config";
import { createLifecycle, createLogger, createMetrics, runUntilSignal } from "@causeway/service-kit";
import { buildPlaceholder } from "./server.ts";

const env = process.env;
const { host, port } = readSettings(
  {
    host: setting.text({ name: "HTTP_HOST", describe: "Address to listen on.", default: "127.0.0.1" }),
    port: setting.integer(
      1,
      65_535,
    )({ name: "HTTP_PORT", describe: "Port to listen on; absent: PORT.", default: 3000 }),
  },
  { ...env, HTTP_PORT: env["HTTP_PORT"] ?? env["PORT"] },
);
const log = createLogger({ name: "causeway-oracle-placeholder", level: "info" });
const lifecycle = createLifecycle(log, 10_000);

await runUntilSignal({
  log,
  lifecycle,
  start: async () => {
    const server = await buildPlaceholder({ log, metrics: createMetrics("causeway-oracle-placeholder") });
    lifecycle.add("http", () => server.close());
    const url = await server.listen({ host, port });
    log.warn({ event: "listening", url, note: "the attestation oracle is not built yet" });
  },
});
