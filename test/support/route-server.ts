import { createLogger, createMetrics, type HttpOptions } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { buildServer } from "../../apps/api/src/process/server.ts";
import { fakeRouteServices, type RouteFakes } from "../fakes/route-services.ts";

/**
 * The real server on fake use cases. Every answer is checked against its schema. `lines` collects log lines.
 */
export async function aServer(
  overrides: Partial<RouteFakes> = {},
  options: HttpOptions = {},
): Promise<{ readonly app: FastifyInstance; readonly lines: string[] }> {
  const lines: string[] = [];
  const log = createLogger({ name: "test", level: "warn" }, { write: (line) => void lines.push(line) });
  const app = await buildServer(
    { ...fakeRouteServices(overrides), log, metrics: createMetrics("test") },
    { checkResponses: true, interactiveDocumentation: false, ...options },
  );
  await app.ready();
  return { app, lines };
}

/** A body that `POST /quote/v2` accepts. */
export const aQuoteBody = {
  user: "0x000000000000000000000000000000000000dEaD",
  originChainId: 11,
  destinationChainId: 12,
  originCurrency: "0x0000000000000000000000000000000000000000",
  destinationCurrency: "0x0000000000000000000000000000000000000000",
  amount: "1000000",
  tradeType: "EXACT_INPUT",
};
