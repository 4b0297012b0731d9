import { ServiceError } from "@causeway/domain";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { errorCodeOf } from "@causeway/service-kit";
import type { ApiKeyIdentity, ApiKeys, ApiScope } from "./api-keys.port.ts";
import type { RateLimits } from "./rate-limits.port.ts";
import type { Usage, UsageNote } from "./usage.port.ts";
import { isPublishable, publishableScopes } from "./publishable-key.ts";
import { keyGuessLimit } from "./rate-limit.route.ts";
import type { KeyGuessLimit } from "./rate-limit.route.ts";

/** Who may call a route. If a key is sent, it must be valid, even if the route needs none. */
export type Access =
  /** Everyone. If `scope` is set, a key that is sent must have it. */
  | { readonly kind: "anybody"; readonly scope?: ApiScope }
  /**
   * Only callers with a key that has the scope. `strict`: every refusal has status 401, as the contract of
   * the endpoint requires.
   */
  | { readonly kind: "key"; readonly scope: ApiScope; readonly strict?: boolean }
  /** API keys are not checked: the route is public, such as health, or has another kind of token. */
  | { readonly kind: "unkeyed" };

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: everyone. */
    readonly access?: Access;
  }
  interface FastifyRequest {
    /** The identity of the request's valid key. */
    apiKey: ApiKeyIdentity | undefined;
  }
}

export interface AccessServices {
  readonly apiKeys: ApiKeys;
  /** Undefined: rate limits are disabled. */
  readonly limits: RateLimits | undefined;
  readonly usage: Usage;
}

const DEFAULT_ACCESS: Access = { kind: "anybody" };

/**
 * Checks the key of each request to the routes added later, before the rest of the request is read. A request
 * without a key costs two header look-ups. Both headers are accepted everywhere, because clients send either
 * one.
 */
export function checkKeys(app: FastifyInstance, services: AccessServices): void {
  app.decorateRequest("apiKey", undefined);
  const guessLimit = keyGuessLimit(services.limits);
  app.addHook("onRoute", (route) => {
    const access = route.config?.access ?? DEFAULT_ACCESS;
    if (access.kind === "unkeyed") return;
    documentSecurity(route, access);
    const endpoint = `${[route.method].flat().join(",")} ${route.url}`;
    // Continues synchronously without a key, because awaiting a promise would cost a fast route more than the
    // header look-ups.
    const check = (
      request: FastifyRequest,
      reply: FastifyReply,
      done: () => void,
    ): Promise<void> | undefined => {
      const { "x-api-key": apiKeyHeader, authorization } = request.headers;
      if (apiKeyHeader === undefined && authorization === undefined && access.kind === "anybody") {
        done();
        return undefined;
      }
      const onIdentified = (keyId: string): void => countAnswer(services.usage, { keyId, endpoint }, reply);
      return admit({ apiKeys: services.apiKeys, guessLimit }, request, access, onIdentified);
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), check];
  });
}

/** Documents in the OpenAPI document whether the route needs a key. */
function documentSecurity(route: RouteOptions, access: Access): void {
  if (route.schema === undefined || route.schema.hide === true) return;
  const keys = [{ apiKey: [] }, { bearer: [] }];
  route.schema = { ...route.schema, security: access.kind === "key" ? keys : [{}, ...keys] };
}

/**
 * The key of a request to a route that needs one.
 * @throws ServiceError UNAUTHORIZED without a key, FORBIDDEN when it lacks the scope
 */
export function requireKey({ apiKey }: Pick<FastifyRequest, "apiKey">, scope: ApiScope): ApiKeyIdentity {
  if (apiKey === undefined)
    throw new ServiceError(
      "UNAUTHORIZED",
      "API key missing; send it in the x-api-key header or as Authorization: Bearer",
    );
  checkScope(apiKey, scope);
  return apiKey;
}

/** Whether the request has a secret key, as opposed to a publishable one. */
export function hasSecretKey({ apiKey }: Pick<FastifyRequest, "apiKey">): boolean {
  return apiKey !== undefined && !isPublishable(apiKey);
}

/**
 * Like {@link requireKey}, for data that must not be readable with a publishable key, which every visitor of
 * a page has.
 * @param action completes "a publishable key cannot"
 * @throws ServiceError UNAUTHORIZED, FORBIDDEN
 */
export function requireSecretKey(
  request: Pick<FastifyRequest, "apiKey">,
  scope: ApiScope,
  action: string,
): ApiKeyIdentity {
  const key = requireKey(request, scope);
  if (isPublishable(key))
    throw new ServiceError(
      "FORBIDDEN",
      `Publishable API keys cannot ${action}; use a secret key with scope ${scope}`,
    );
  return key;
}

/** @throws ServiceError UNAUTHORIZED when the key is only for other referrers. */
export function requireReferrer({ referrers }: ApiKeyIdentity, referrer: string | undefined): void {
  if (referrers.length > 0 && (referrer === undefined || !referrers.includes(referrer)))
    throw new ServiceError("UNAUTHORIZED", "referrer is missing or not allowed for this API key");
}

/**
 * Looks up the key that a client sent.
 * @throws ServiceError UNAUTHORIZED for an invalid key, RATE_LIMITED for an address that sent too many
 * invalid keys
 */
export async function validKey(
  { apiKeys, guessLimit }: Pick<AccessServices, "apiKeys"> & { readonly guessLimit: KeyGuessLimit },
  sentKey: string,
  request: Pick<FastifyRequest, "ip">,
): Promise<ApiKeyIdentity> {
  // When an address exceeds the limit, unknown keys from it are no longer looked up; known keys still work.
  if (!apiKeys.isKnown(sentKey)) guessLimit.check(request);
  const key = await apiKeys.find(sentKey);
  if (key === undefined) {
    await guessLimit.count(request);
    throw new ServiceError("UNAUTHORIZED", "API key is not valid");
  }
  return key;
}

/**
 * Sets the request's key as soon as it is known, so that calls that are refused later count toward this key
 * too.
 */
async function admit(
  { apiKeys, guessLimit }: Pick<AccessServices, "apiKeys"> & { readonly guessLimit: KeyGuessLimit },
  request: FastifyRequest,
  access: Access,
  onIdentified: (keyId: string) => void,
): Promise<void> {
  try {
    const sentKey = readSentKey(request);
    if (sentKey !== undefined) {
      const key = await validKey({ apiKeys, guessLimit }, sentKey, request);
      onIdentified(key.id);
      checkOrigin(key, request.headers.origin);
      request.apiKey = key;
    }
    if (access.kind === "key") requireKey(request, access.scope);
    else if (access.kind === "anybody" && access.scope !== undefined && request.apiKey !== undefined)
      checkScope(request.apiKey, access.scope);
  } catch (error) {
    const isStrict = access.kind === "key" && access.strict === true;
    if (isStrict && error instanceof ServiceError && error.code === "FORBIDDEN")
      throw new ServiceError("UNAUTHORIZED", error.message, { cause: error });
    throw error;
  }
}

function countAnswer(usage: Usage, call: Pick<UsageNote, "keyId" | "endpoint">, reply: FastifyReply): void {
  const { raw } = reply;
  raw.once("finish", () =>
    usage.note({ ...call, status: raw.statusCode, errorCode: errorCodeOf(reply) ?? "" }),
  );
}

/**
 * Reads the key that a client sent; undefined if there is none. Ignores an Authorization header with another
 * scheme: it may be meant for a proxy.
 */
export function readSentKey({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const apiKey = headerText(headers["x-api-key"]);
  const { authorization = "" } = headers;
  const bearer = /^bearer /i.test(authorization)
    ? headerText(authorization.slice("bearer ".length))
    : undefined;
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer)
    throw new ServiceError(
      "UNAUTHORIZED",
      "x-api-key and Authorization contain different API keys; send one of them",
    );
  return apiKey ?? bearer;
}

/**
 * The text of a header. An empty header counts as missing, because clients without a configured key send it.
 */
function headerText(header: string | readonly string[] | undefined): string | undefined {
  const text = (typeof header === "object" ? header.join(", ") : header)?.trim();
  return text === "" ? undefined : text;
}

function checkScope(key: ApiKeyIdentity, scope: ApiScope): void {
  const isSecretScope = isPublishable(key) && !publishableScopes.has(scope);
  if (isSecretScope || !key.scopes.includes(scope))
    throw new ServiceError("FORBIDDEN", `API key lacks scope ${scope}`);
}

/**
 * Requires an allowed origin for a publishable key: the key is public, and only browsers reliably state the
 * origin of a page.
 *
 * @throws ServiceError FORBIDDEN
 */
export function checkOrigin({ origins }: ApiKeyIdentity, origin: string | undefined): void {
  if (isPublishable({ origins }) && (origin === undefined || !origins.includes(origin)))
    throw new ServiceError(
      "FORBIDDEN",
      "Origin header is missing or not allowed for this publishable API key",
    );
}
