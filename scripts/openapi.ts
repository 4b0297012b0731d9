import { readFile, writeFile } from "node:fs/promises";
import { Secret } from "@causeway/config";
import { createLogger, createMetrics } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import type { RouteContext } from "../apps/api/src/process/index.route.ts";
import { buildServer } from "../apps/api/src/process/server.ts";
import type { RouteServices as OracleRouteServices } from "../apps/oracle/src/ports/route-services.ts";
import { buildServer as buildOracleServer } from "../apps/oracle/src/server.ts";

/**
 * Writes openapi/api.json and openapi/oracle.json from the routes and schemas of the two services; with
 * `--check` writes nothing and fails if a file differs. Uses no network and no database: the services
 * behind the routes are empty.
 */
const unused = (): never => {
  throw new Error("invariant violated: a service was called while generating the document");
};
const kit = {
  log: createLogger({ name: "openapi", level: "silent" }),
  metrics: createMetrics("openapi"),
};
const context: RouteContext = {
  call: unused,
  countQuote: unused,
  listChains: unused,
  searchCurrencies: unused,
  requestSignature: unused,
  readiness: unused,
  addressFormat: { address: unused, transaction: unused },
  apiKeys: { find: unused, isKnown: unused },
  keyAdmin: {
    create: unused,
    list: unused,
    change: unused,
    rotate: unused,
    revoke: unused,
    challengeFundingAddress: unused,
    linkFundingAddress: unused,
  },
  traceQuote: unused,
  pauseAdmin: { list: unused, pause: unused, resume: unused },
  // The operator routes are documented although an instance may have none.
  operatorToken: new Secret("unused"),
  limits: undefined,
  usage: { note: unused, read: unused },
  push: {
    follow: unused,
    followKey: unused,
    connections: { take: unused },
    policy: {
      maxConnections: 1,
      maxPerAddress: 1,
      maxSubscriptions: 1,
      heartbeatMs: 60_000,
      trustProxy: false,
    },
    sockets: { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 },
  },
  webhooks: {
    create: unused,
    list: unused,
    rotate: unused,
    remove: unused,
    deliveries: unused,
    delivery: unused,
    replay: unused,
  },
  idempotency: { begin: unused, finish: unused, abandon: unused },
  clock: { nowMs: unused },
};
const oracleServices: OracleRouteServices = {
  attestDeposit: unused,
  attestWithdrawal: unused,
  attestFill: unused,
  attestRefund: unused,
  initiateWithdrawal: unused,
  confirmWithdrawal: unused,
  signNonceMapping: unused,
  listChains: unused,
  shadowReport: unused,
  reportStatus: unused,
};

await write(
  "openapi/api.json",
  await buildServer({ ...context, ...kit }, { interactiveDocumentation: false }),
);
await write(
  "openapi/oracle.json",
  await buildOracleServer(
    { ...oracleServices, ...kit, metrics: createMetrics("openapi") },
    {
      apiKeys: undefined,
      metricsOpen: true,
      shadow: false,
      handlerTimeoutMs: 1,
      interactiveDocumentation: false,
    },
  ),
);

async function write(path: string, app: FastifyInstance): Promise<void> {
  await app.ready();
  const text = `${JSON.stringify(sortedKeys(app.swagger()), undefined, 2)}\n`;
  await app.close();
  const target = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    await writeFile(target, text);
    return;
  }
  const committed = await readFile(target, "utf8").catch(() => "");
  if (committed === text) return;
  console.error(`${path} is out of date: run \`pnpm openapi\` and commit the file`);
  process.exitCode = 1;
}

/**
 * Sorts the keys, independently of the order in the code, so that a diff shows only what
 * changed.
 */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortedKeys(inner)] as const),
  );
}
