import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import type { TrustedProxies } from "@causeway/service-kit";

const { choice, flag, integer, list, text, trustedProxies } = setting;

export const httpSettings = {
  httpHost: text({
    name: "HTTP_HOST",
    default: "127.0.0.1",
    describe: "Address that the API and the worker listen on. Use `0.0.0.0` in a container.",
  }),
  httpPort: integer({
    name: "HTTP_PORT",
    min: 0,
    max: 65_535,
    default: 3000,
    describe: "Port of the API. 0 picks a free port.",
  }),
  healthPort: integer({
    name: "HEALTH_PORT",
    min: 0,
    max: 65_535,
    default: 3001,
    describe: "Port of the worker's server for health checks and metrics.",
  }),
  requiredChains: list({
    name: "READINESS_CHAINS",
    default: [],
    describe:
      "Names of enabled chains, for example `base,arbitrum`. `GET /health/ready` returns 503 while any of them is `lagging` or `unheard`. Empty: one healthy chain is enough.",
  }),
  trustProxy: trustedProxies({
    name: "TRUST_PROXY",
    default: false,
    describe:
      "Proxies whose `X-Forwarded-For` entry is trusted: the number of proxies in front of the API, or their addresses and ranges. `true` is refused: callers could then forge the header to evade rate limits.",
  }),
  responseCheck: flag({
    name: "RESPONSE_CHECK",
    default: false,
    describe:
      "Whether to validate every response against its schema, for debugging. A mismatch is logged and returned as 500. Quote throughput drops by about half.",
  }),
  logLevel: choice({
    name: "LOG_LEVEL",
    values: ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
    default: "info",
    describe: "Minimum level of log lines.",
  }),
  logFormat: choice({
    name: "LOG_FORMAT",
    values: ["json", "pretty"],
    default: "json",
    describe: "`json`: one JSON object per line. `pretty`: readable lines for a terminal.",
  }),
  shutdownTimeoutMs: integer({
    name: "SHUTDOWN_TIMEOUT_MS",
    min: 1,
    max: 86_400_000,
    default: 25_000,
    describe:
      "How long a shutdown waits for running requests and jobs. Keep it below the grace period of your platform.",
  }),
};

export const fixedHttpPolicy = {
  /** Larger request bodies are refused. */
  bodyLimitBytes: 262_144,
};

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly bodyLimitBytes: number;
  readonly trustProxy: TrustedProxies;
  readonly responseCheck: boolean;
}

export function httpConfig(http: SettingValues<typeof httpSettings>): HttpConfig {
  return {
    host: http.httpHost,
    port: http.httpPort,
    trustProxy: http.trustProxy,
    responseCheck: http.responseCheck,
    ...fixedHttpPolicy,
  };
}
