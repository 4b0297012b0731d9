import {
  type ApiDescription,
  createHttpServer,
  type HttpServices,
  type Traces,
  type TrustedProxies,
} from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { oracleErrorAnswer } from "./error-answer.ts";
import { guard } from "./guard.ts";
import type { ApiKeys } from "./ports/api-keys.ts";
import type { RouteServices } from "./ports/route-services.ts";
import { traceAttestations } from "./trace-attestations.ts";
import { addRoutes } from "./routes/index.ts";

const BODY_LIMIT_BYTES = 1024 * 1024;

const description: ApiDescription = {
  title: "Causeway attestation oracle",
  version: "1.0.0",
  description:
    "Signs attestations of final on-chain events: deposits, withdrawals, fills, refunds, and the steps of a withdrawal from the hub. " +
    "A response can contain fewer signatures than a quorum needs: callers must count the distinct signers they trust. " +
    "Unknown request fields are ignored.",
  servers: [
    { url: "/", description: "This oracle" },
    { url: "http://127.0.0.1:18512", description: "The first oracle of the local system (npm start)" },
  ],
  tags: [
    { name: "attestations", description: "Signed attestations." },
    { name: "oracle", description: "Chains, status and health of this oracle." },
  ],
};

export interface ServerOptions {
  /** Undefined: no key is required. */
  readonly apiKeys: ApiKeys | undefined;
  readonly metricsOpen: boolean;
  /** Default: no traces. */
  readonly traces?: Traces | undefined;
  /** Proxies whose `X-Forwarded-For` names the caller's address. Default: none. */
  readonly trustProxy?: TrustedProxies;
  /** Marks every response as `shadow: true`. */
  readonly shadow: boolean;
  /** Timeout of a route in ms, including calls to peers. */
  readonly handlerTimeoutMs: number;
  readonly checkResponses?: boolean;
  readonly interactiveDocumentation?: boolean;
}

/** The oracle's HTTP server with all its routes. It does not listen yet. */
export async function buildServer(
  services: HttpServices & RouteServices,
  options: ServerOptions,
): Promise<FastifyInstance> {
  const { apiKeys, metricsOpen, shadow, traces, ...http } = options;
  const app = await createHttpServer(services, description, {
    ...http,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    errorAnswer: oracleErrorAnswer,
  });
  if (apiKeys !== undefined) guard(app, apiKeys, metricsOpen);
  if (traces !== undefined) traceAttestations(app, traces);
  addRoutes(app, services, { shadow, keyed: apiKeys !== undefined });
  return app;
}
