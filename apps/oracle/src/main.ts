import { ConfigError, takeEnvironment } from "@causeway/config";
import {
  createLifecycle,
  createMetrics,
  createTraces,
  listenOn,
  runUntilSignal,
} from "@causeway/service-kit";
import { createApiKeys } from "./adapters/api-keys.ts";
import { type OracleConfig, readOracleConfig } from "./config.ts";
import { createContainer } from "./container.ts";
import { createOracleLog } from "./oracle-log.ts";
import { buildServer } from "./server.ts";

const NAME = "causeway-oracle";
/** Time for an answer beyond the slowest peer. ms */
const RESPONSE_MARGIN_MS = 2_000;

const config = await readConfigOrPrintProblems();
if (config !== undefined) await serve(config);

async function serve(config: OracleConfig): Promise<void> {
  const log = createOracleLog(
    { name: NAME, level: config.logLevel, format: config.logFormat },
    config.secrets,
  );
  const metrics = createMetrics(NAME);
  const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);
  await runUntilSignal({
    log,
    lifecycle,
    start: async () => {
      for (const warning of config.warnings) log.warn({ event: "configuration", warning });
      log.info({
        event: "chains_enabled",
        chains: config.chains.map(({ name }) => name),
        off: config.offChains,
      });
      const services = await createContainer(config, { log, metrics }, lifecycle);
      const traces = config.traces && createTraces(NAME, config.traces, metrics.registry);
      lifecycle.add("traces", async () => await traces?.close());
      const server = await buildServer(
        { ...services, log, metrics },
        {
          traces,
          apiKeys: config.apiKeys && createApiKeys(config.apiKeys),
          metricsOpen: config.http.metricsOpen,
          trustProxy: config.http.trustProxy,
          shadow: config.shadow,
          checkResponses: config.http.responseCheck,
          handlerTimeoutMs: Math.max(config.requestDeadlineMs, config.peerTimeoutMs) + RESPONSE_MARGIN_MS,
        },
      );
      lifecycle.add("http", () => server.close());
      const url = await listenOn(server, {
        host: config.http.host,
        port: config.http.port,
        portName: "HTTP_PORT",
      });
      log.info({ event: "listening", url, signer: config.signer.address, shadow: config.shadow });
    },
  });
}

/** There is no logger yet, and people who fix a configuration read lines, not JSON. */
async function readConfigOrPrintProblems(): Promise<OracleConfig | undefined> {
  try {
    return await readOracleConfig(takeEnvironment(process.env));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
}
