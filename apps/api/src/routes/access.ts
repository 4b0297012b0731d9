import { ServiceError } from "@causeway/domain";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKeyIdentity, ApiKeys, ApiScope } from "../ports/api-keys.ts";

/** Who may call a route. Anybody who gives a key must give a valid one. */
export type Access =
  /** Everybody; a key that is given must carry the scope, if one is named. */
  | { readonly kind: "anybody"; readonly scope?: ApiScope }
  /** Only with a key that carries the scope. `strict`: every refusal is 401, as the contract of the endpoint has it. */
  | { readonly kind: "key"; readonly scope: ApiScope; readonly strict?: boolean }
  /** Not a matter of keys: health, or a token of another kind. */
  | { readonly kind: "unkeyed" };

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: everybody. */
    readonly access?: Access;
  }
  interface FastifyRequest {
    /** Whose valid key came with the request. */
    apiKey: ApiKeyIdentity | undefined;
  }
}

const ANYBODY: Access = { kind: "anybody" };
const PUBLISHABLE_SCOPES: ReadonlySet<ApiScope> = new Set<ApiScope>(["quote", "read"]);

/**
 * Looks at the key of each request to the routes added later, before anything else of it is read. Without a key it costs two look-ups of a header.
 * Both headers are taken everywhere: some clients send the one, some the other.
 */
export function checkKeys(app: FastifyInstance, { apiKeys }: { readonly apiKeys: ApiKeys }): void {
  app.decorateRequest("apiKey", undefined);
  app.addHook("onRoute", (route) => {
    const access = route.config?.access ?? ANYBODY;
    if (access.kind === "unkeyed") return;
    const check = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
      const { "x-api-key": own, authorization } = request.headers;
      if (own === undefined && authorization === undefined && access.kind === "anybody") return done();
      identify(request, access, apiKeys).then(() => done(), done);
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), check];
  });
}

/**
 * The key of a request to a route that needs one.
 * @throws ServiceError UNAUTHORIZED without a key, FORBIDDEN when it is not for this.
 */
export function requireKey({ apiKey }: FastifyRequest, scope: ApiScope): ApiKeyIdentity {
  if (apiKey === undefined)
    throw new ServiceError(
      "UNAUTHORIZED",
      "an API key is required, in the header x-api-key or as Authorization: Bearer",
    );
  checkScope(apiKey, scope);
  return apiKey;
}

/** @throws ServiceError UNAUTHORIZED when the key is only for other referrers. */
export function requireReferrer({ referrers }: ApiKeyIdentity, referrer: string | undefined): void {
  if (referrers.length > 0 && (referrer === undefined || !referrers.includes(referrer)))
    throw new ServiceError("UNAUTHORIZED", "the referrer is not one of this API key");
}

async function identify(request: FastifyRequest, access: Access, apiKeys: ApiKeys): Promise<void> {
  try {
    const given = givenKey(request);
    if (given !== undefined) {
      const key = await apiKeys.find(given);
      if (key === undefined) throw new ServiceError("UNAUTHORIZED", "the API key is not valid");
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

/** Undefined without one. An Authorization of another scheme is somebody else's, a proxy's perhaps. */
function givenKey({ headers }: FastifyRequest): string | undefined {
  const own = oneText(headers["x-api-key"]);
  const bearer = /^Bearer +(\S.*?) *$/i.exec(headers.authorization ?? "")?.[1];
  if (own !== undefined && bearer !== undefined && own !== bearer)
    throw new ServiceError("UNAUTHORIZED", "x-api-key and Authorization hold two different keys");
  return own ?? bearer;
}

/** An empty header is what a client sends whose key is not configured: none. */
function oneText(header: string | readonly string[] | undefined): string | undefined {
  const text = (typeof header === "object" ? header.join(", ") : header)?.trim();
  return text === "" ? undefined : text;
}

function checkScope(key: ApiKeyIdentity, scope: ApiScope): void {
  const isPublished = key.origins.length > 0 && !PUBLISHABLE_SCOPES.has(scope);
  if (isPublished || !key.scopes.includes(scope))
    throw new ServiceError("FORBIDDEN", `the API key lacks the scope ${scope}`);
}

/** A publishable key stands in pages for everyone to read: it is worth something only where browsers vouch for the page. */
function checkOrigin({ origins }: ApiKeyIdentity, origin: string | undefined): void {
  if (origins.length > 0 && (origin === undefined || !origins.includes(origin)))
    throw new ServiceError("FORBIDDEN", "the API key is for browser pages of other origins");
}
