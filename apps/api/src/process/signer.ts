import type { Address } from "@causeway/domain";
import {
  createHttpServer,
  createLifecycle,
  createLogger,
  createMetrics,
  listenOn,
  runUntilSignal,
  StartProblem,
  type Lifecycle,
  type Logger,
} from "@causeway/service-kit";
import type { ReadinessAnswer } from "@causeway/wire";
import type { FastifyInstance } from "fastify";
import { unlink } from "node:fs/promises";
import { asError } from "../db/together-or-alone.ts";
import { openSigner } from "../chains/signers.wiring.ts";
import type { SignerEndpoint } from "../config/order-signing.ts";
import type { SignerConfig } from "../config/signer-config.ts";
import { healthRoutes } from "../http/health.route.ts";
import { metricsAccess } from "../http/metrics-access.ts";
import { withTypes } from "../http/typed.route.ts";
import { keyOrderSigner } from "../requests/signing/key-order-signer.ts";
import { isServed } from "../payments/limited-signing/record-lock.adapter.ts";
import { checkRecord } from "../payments/limited-signing/record-check.ts";
import { openSigningRecord } from "../payments/limited-signing/signing-record.adapter.ts";
import type { SigningRecord } from "../payments/limited-signing/signing-rules.port.ts";
import { signTransactionRoute } from "../payments/limited-signing/sign-transaction.route.ts";
import { onlyWithToken, signRoutes } from "../requests/signing/sign.route.ts";
import { signingCounts } from "../telemetry/signing-counts.ts";

/** An order contains the calls of its quote, whose request body may have 256 KiB. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

const description = {
  title: "Causeway signer",
  version: "1.0.0",
  description: "Signs orders and attestations as the solver, and nothing else.",
  tags: [{ name: "signing", description: "For the API of the same host." }],
};

interface Needs {
  readonly config: SignerConfig;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
}

/**
 * Runs the signer process until a signal. It has no database and reaches no chain. With signing rules, it
 * also signs the transactions that they allow.
 */
export async function runSigner(config: SignerConfig): Promise<void> {
  const log = createLogger({ name: "causeway-signer", level: config.logLevel, format: config.logFormat });
  const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);
  await runUntilSignal({
    log,
    lifecycle,
    start: async () => {
      const signer = await openSigner({ config, log, lifecycle }, config.key);
      const metrics = createMetrics("causeway-signer");
      const server = await createHttpServer({ log, metrics }, description, {
        bodyLimitBytes: BODY_LIMIT_BYTES,
        interactiveDocumentation: false,
        // Without a token, metrics are open: on a socket, the file mode decides who may read them.
        metrics: metricsAccess(config.token, "open"),
      });
      const record = await openRecord({ config, log, lifecycle }, signer.address);
      healthRoutes(withTypes(server), { readiness: async () => await readinessOf(record) });
      const token = config.token?.reveal();
      // An executor does not sign orders.
      if (config.signing?.rules.key !== "executor")
        signRoutes(withTypes(server), {
          orderSigner: keyOrderSigner(signer),
          solver: signer.address,
          token,
        });
      if (config.signing !== undefined && record !== undefined)
        signTransactionRoute(withTypes(server), {
          signing: {
            signer,
            rules: config.signing.rules,
            record,
            log,
            count: signingCounts(metrics.registry),
          },
          authorize: onlyWithToken(token),
        });
      lifecycle.add("http", () => server.close());
      const url = await listenAt(server, config.endpoint);
      log.info({ event: "listening", url, solver: signer.address });
    },
  });
}

/** Undefined without signing rules. */
async function openRecord(
  { config, log, lifecycle }: Needs,
  account: Address,
): Promise<SigningRecord | undefined> {
  if (config.signing === undefined) return undefined;
  const path = config.signing.recordPath;
  try {
    const record = await openSigningRecord(path, account, () => Date.now());
    lifecycle.add("signing record", () => record.close());
    if (record.isNew) log.warn({ event: "signing_record_created", path });
    const aheadMs = record.aheadMs();
    if (aheadMs > 0) log.warn({ event: "signing_record_ahead", path, aheadMs });
    return record;
  } catch (error) {
    throw new StartProblem(`SIGNING_RECORD: ${asError(error).message}`, { cause: error });
  }
}

async function readinessOf(record: SigningRecord | undefined): Promise<ReadinessAnswer> {
  if (record === undefined) return { ready: true, chains: {}, checks: {} };
  const { ready, detail } = await checkRecord(record);
  return { ready, chains: {}, checks: { signingRecord: detail } };
}

/** @throws StartProblem if another process listens there, or listening fails */
async function listenAt(server: FastifyInstance, endpoint: SignerEndpoint): Promise<string> {
  if (endpoint.kind === "port") return await listenOn(server, { ...endpoint, portName: "ORDER_SIGNER_URL" });
  const { path } = endpoint;
  if (await isServed(path))
    throw new StartProblem(
      `another process listens on ${path}; stop it, or set ORDER_SIGNER_URL to another path`,
    );
  // A process that was killed leaves its socket behind.
  await unlink(path).catch(() => undefined);
  // The socket must be private from the start: any process that can connect can have orders signed.
  const previousMask = process.umask(0o177);
  try {
    return await server.listen({ path });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new StartProblem(`ORDER_SIGNER_URL: cannot listen on ${path} (${code})`, { cause: error });
  } finally {
    process.umask(previousMask);
  }
}
