import {
  createHttpServer,
  createLifecycle,
  createLogger,
  createMetrics,
  listenOn,
  runUntilSignal,
  StartProblem,
} from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { unlink } from "node:fs/promises";
import { createConnection } from "node:net";
import { asError } from "../db/together-or-alone.ts";
import { openSigner } from "../chains/signers.wiring.ts";
import type { SignerPlace } from "../config/order-signing.ts";
import type { SignerConfig } from "../config/signer-config.ts";
import { healthRoutes } from "../http/health.route.ts";
import { typed } from "../http/typed.route.ts";
import { keyOrderSigner } from "../requests/signing/key-order-signer.ts";
import { openSigningRecord } from "../payments/limited-signing/signing-record.adapter.ts";
import { signTransactionRoute } from "../payments/limited-signing/sign-transaction.route.ts";
import { onlyWithToken, signRoutes } from "../requests/signing/sign.route.ts";

/** An order repeats the calls of its quote, whose body may have 256 KiB. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

const description = {
  title: "Causeway signer",
  version: "1.0.0",
  description: "Signs orders and attestations as the solver, and nothing else.",
  tags: [{ name: "signing", description: "For the API of the same host." }],
};

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
      const server = await createHttpServer({ log, metrics: createMetrics("causeway-signer") }, description, {
        bodyLimitBytes: BODY_LIMIT_BYTES,
        interactiveDocumentation: false,
        metrics: "closed",
      });
      healthRoutes(typed(server), {
        readiness: async () => ({ ready: true, chains: {}, checks: {} }),
      });
      const token = config.token?.reveal();
      // An executor signs no orders.
      if (config.signing?.rules.key !== "executor")
        signRoutes(typed(server), {
          orderSigner: keyOrderSigner(signer),
          solver: signer.address,
          token,
        });
      if (config.signing !== undefined) {
        const { rules, recordPath } = config.signing;
        const record = await openRecord(recordPath);
        lifecycle.add("signing record", () => record.close());
        if (record.isNew) log.warn({ event: "signing_record_created", path: recordPath });
        signTransactionRoute(typed(server), {
          signing: { signer, rules, record, log },
          authorize: onlyWithToken(token),
        });
      }
      lifecycle.add("http", () => server.close());
      const url = await listenAt(server, config.place);
      log.info({ event: "listening", url, solver: signer.address });
    },
  });
}

async function openRecord(path: string): ReturnType<typeof openSigningRecord> {
  try {
    return await openSigningRecord(path, () => Date.now());
  } catch (error) {
    throw new StartProblem(`SIGNING_RECORD: ${asError(error).message}`, { cause: error });
  }
}

/** @throws StartProblem when the place is taken */
async function listenAt(server: FastifyInstance, place: SignerPlace): Promise<string> {
  if (place.kind === "port") return await listenOn(server, { ...place, portName: "ORDER_SIGNER_URL" });
  const { path } = place;
  if (await isServed(path))
    throw new StartProblem(
      `another process listens on ${path}; stop it, or set ORDER_SIGNER_URL to another path`,
    );
  // A process that was killed leaves its socket behind.
  await unlink(path).catch(() => undefined);
  // The mode must be right from the first moment: a process that can connect can have orders signed.
  const before = process.umask(0o177);
  try {
    return await server.listen({ path });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new StartProblem(`ORDER_SIGNER_URL: cannot listen on ${path} (${code})`, { cause: error });
  } finally {
    process.umask(before);
  }
}

async function isServed(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
