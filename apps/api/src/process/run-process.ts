import { ConfigError, type Env, takeEnvironment } from "@causeway/config";
import {
  createLifecycle,
  createLogger,
  createMetrics,
  listenOn,
  runUntilSignal,
} from "@causeway/service-kit";
import type { HttpServices } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import type { ApiConfig } from "../config/config.ts";
import { createContainer } from "./container.ts";
import type { Container } from "./container.ts";

/** What makes one process differ from the other: its name, what it serves, and where it listens. */
export interface ProcessPlan<Config extends ApiConfig> {
  readonly name: string;
  /** Whether clients can ask it. */
  readonly answersClients: boolean;
  /** @throws ConfigError */
  read(env: Env): Config;
  serve(container: Container, config: Config, services: HttpServices): Promise<FastifyInstance>;
  /** The port that it listens on, and the setting that gives it. */
  port(config: Config): { readonly port: number; readonly portName: string };
}

/**
 * A process of this app from configuration to the last signal. A configuration that is wrong is told on
 * stderr, and the exit code is 1.
 */
export async function runProcess<Config extends ApiConfig>(
  env: NodeJS.ProcessEnv,
  plan: ProcessPlan<Config>,
): Promise<void> {
  const config = readOrExplain(() => plan.read(takeEnvironment(env)));
  if (config === undefined) return;
  const log = createLogger({ name: plan.name, level: config.logLevel, format: config.logFormat });
  const metrics = createMetrics(plan.name);
  const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);
  await runUntilSignal({
    log,
    lifecycle,
    start: async () => {
      for (const warning of config.warnings) log.warn({ event: "configuration", warning });
      const chains = [...config.chains, ...config.rails.map(({ chain }) => chain)].map(({ name }) => name);
      log.info({ event: "chains_enabled", chains, off: config.offChains });
      const container = await createContainer(
        config,
        { log, metrics, answersClients: plan.answersClients },
        lifecycle,
      );
      const server = await plan.serve(container, config, { log, metrics });
      lifecycle.add("http", () => server.close());
      const url = await listenOn(server, { host: config.http.host, ...plan.port(config) });
      log.info({ event: "listening", url });
    },
  });
}

/** There is no log level yet, and whoever mends the configuration reads lines, not JSON. */
function readOrExplain<Config>(read: () => Config): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
}
