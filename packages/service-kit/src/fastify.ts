import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, LogController } from "fastify";
import { hasZodFastifySchemaValidationErrors, validatorCompiler } from "fastify-type-provider-zod";
import { allowEveryOrigin } from "./cors.ts";
import { endConnectionsOnClose } from "./end-connections.ts";
import { noteErrorCode } from "./error-codes.ts";
import { answerFor, type ErrorAnswer } from "./error-map.ts";
import { sendJson } from "./json.ts";
import type { Logger } from "./logging.ts";
import { type Metrics, type MetricsAccess, serveMetrics } from "./metrics.ts";
import { type ApiDescription, serveDocumentation } from "./openapi.ts";
import { checkResponses } from "./response-check.ts";
import { routeTimes } from "./route-times.ts";
import { type FieldErrorCodes, schemaProblem } from "./schema-problem.ts";
import { trustedHops, type TrustedProxies } from "./trusted-proxies.ts";
import { noteRoutes } from "./unknown-route.ts";
import { watchAnswers } from "./watch-answers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Fields whose invalid values have their own error code. */
    readonly fieldErrorCodes?: FieldErrorCodes;
    /** This route's own error format, made from the standard answer. */
    readonly errorAnswer?: (standard: ErrorAnswer) => CustomErrorAnswer;
    /** A shorter limit than `handlerTimeoutMs` for this route, ms. */
    readonly answerWithinMs?: number;
  }
}

/** Network options of a server. All times in ms. */
export interface HttpOptions {
  /** Default: none. */
  readonly trustProxy?: TrustedProxies;
  /** Access to `GET /metrics`. Default: everyone who reaches the port. */
  readonly metrics?: MetricsAccess;
  /** Time to receive a whole request. */
  readonly requestTimeoutMs?: number;
  /** Time limit for a route's response; then the client gets 503 `REQUEST_TIMED_OUT`. */
  readonly handlerTimeoutMs?: number;
  readonly bodyLimitBytes?: number;
  /** Check every answer against its schema: for tests and staging. */
  readonly checkResponses?: boolean;
  /** Serve the interactive page in addition to the JSON document. */
  readonly interactiveDocumentation?: boolean;
  /**
   * The service's own error format, made from the thrown value (undefined: no such route) and the
   * standard answer.
   */
  readonly errorAnswer?: (thrown: unknown, standard: ErrorAnswer) => CustomErrorAnswer;
}

/** An error answer in the format of one route or service. */
export interface CustomErrorAnswer extends Omit<ErrorAnswer, "body"> {
  readonly body: object;
}

export interface HttpServices {
  readonly log: Logger;
  readonly metrics: Metrics;
}

const BODY_LIMIT_BYTES = 256 * 1024;

/**
 * Creates a server without routes: validation by zod, one error format, CORS, metrics, documentation. The
 * caller listens. Answers are serialized by `JSON.stringify`; their schemas document them and are checked
 * only with `checkResponses`.
 */
export async function createHttpServer(
  services: HttpServices,
  description: ApiDescription,
  options: HttpOptions = {},
): Promise<FastifyInstance> {
  const answerTo = (thrown: unknown, standard = answerFor(thrown)): CustomErrorAnswer =>
    options.errorAnswer?.(thrown, standard) ?? standard;
  const app: FastifyInstance = fastify({
    // A framework logger would add two listeners per answer. Its messages about single requests (answered
    // twice, failed after the answer) go to the shared logger: a child logger per request costs more than it
    // is worth for a few lines.
    logger: false,
    childLoggerFactory: () => services.log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    bodyLimit: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    requestTimeout: options.requestTimeoutMs ?? 15_000,
    // Every body is parsed by a schema that keeps only its known fields, so no key can reach a prototype.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
    trustProxy: trustedHops(options.trustProxy ?? false),
    frameworkErrors: (error, _request, reply) => send(reply as unknown as FastifyReply, answerTo(error)),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(() => JSON.stringify);
  // The framework's own text parser would report a wrong content type as an invalid body.
  app.removeContentTypeParser("text/plain");

  const unknownRoute = noteRoutes(app);
  app.setNotFoundHandler((request, reply) =>
    send(reply, answerTo(undefined, unknownRoute(request.method, request.url))),
  );
  app.setErrorHandler((error, request, reply) => {
    const cause = hasZodFastifySchemaValidationErrors(error)
      ? schemaProblem(
          error.validation,
          error.validationContext ?? "request",
          request.routeOptions.config.fieldErrorCodes,
        )
      : error;
    const standard = answerFor(cause);
    const answer = request.routeOptions.config?.errorAnswer?.(standard) ?? answerTo(cause, standard);
    noteErrorCode(reply, standard.body.errorCode);
    if (answer.unexpected) {
      request.log.error({
        event: "requestFailed",
        route: request.routeOptions.url,
        status: answer.status,
        reqId: request.id,
        err: error,
      });
    }
    return send(reply, answer);
  });

  endConnectionsOnClose(app);
  watchAnswers(app, options.handlerTimeoutMs ?? 20_000, routeTimes(services.metrics.registry));
  if (options.checkResponses === true) checkResponses(app);
  serveMetrics(app, services.metrics, options.metrics);
  allowEveryOrigin(app);
  await serveDocumentation(app, description, options.interactiveDocumentation ?? true);
  return app;
}

const PROXY_ID = /^[\w.:+/=-]{1,128}$/;

/** Request ids for the log: the id of the proxy in front, or a number that is unique across processes. */
function createRequestIds(): (request: Pick<IncomingMessage, "headers">) => string {
  const process = randomBytes(4).toString("hex");
  let count = 0;
  return ({ headers }) => {
    const proxyId = headers["x-request-id"];
    return typeof proxyId === "string" && PROXY_ID.test(proxyId) ? proxyId : `${process}-${++count}`;
  };
}

function send(reply: FastifyReply, answer: CustomErrorAnswer): FastifyReply {
  return sendJson(reply.code(answer.status).headers(answer.headers), JSON.stringify(answer.body));
}
