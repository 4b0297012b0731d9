import { Secret } from "@causeway/config";
import { ServiceError } from "@causeway/domain";
import type { FastifyInstance, InjectOptions, RouteOptions } from "fastify";
import diagnostics from "node:diagnostics_channel";
import type { AddressInfo } from "node:net";
import type { ApiKeyRecord } from "../../apps/api/src/callers/api-key-register.port.ts";
import type { ApiKeyIdentity, ApiScope } from "../../apps/api/src/http/api-keys.port.ts";
import type { StatusPush } from "../../apps/api/src/push/status-push.port.ts";
import type { WebhookDelivery, WebhookEndpoint } from "../../apps/api/src/push/webhooks.port.ts";
import { anApiKey, fakeApiKeys, fakeKeyAdmin } from "../fakes/api-keys.ts";
import { fakePush } from "../fakes/push.ts";
import { A_TX_HASH, aView, KNOWN_REQUEST_ID, type RouteFakes } from "../fakes/route-services.ts";
import { fakeWebhooks } from "../fakes/webhooks.ts";
import { aQuoteBody, aServer } from "./route-server.ts";

/** The origin of the page that uses the publishable key. */
export const PAGE = "https://app.example";
export const OPERATOR_TOKEN = "0123456789abcdef0123456789abcdef";
const WALLET = `0x${"a1".repeat(20)}` as const;
const OTHER_WALLET = `0x${"b2".repeat(20)}` as const;
const OWN_ID = "a".repeat(16);
const HASH = `0x${"d4".repeat(32)}`;
const SIGNATURE = `0x${"ab".repeat(65)}`;
const NATIVE = `0x${"00".repeat(20)}`;
const WEBHOOK = `/webhooks/wh_${"w".repeat(16)}`;
const allScopes: readonly ApiScope[] = ["quote", "execute", "fast-fill", "read"];

/**
 * API keys by their text. `no <scope>` has all other scopes, and `no -` has none. `page` has the same id as
 * `own`, so both have the same requests.
 */
const keys: Readonly<Record<string, ApiKeyIdentity>> = {
  page: anApiKey({ id: OWN_ID, scopes: ["quote", "read"], origins: [PAGE] }),
  own: anApiKey({ id: OWN_ID, fundingAddress: WALLET }),
  other: anApiKey({ id: "b".repeat(16), fundingAddress: OTHER_WALLET }),
  "no -": anApiKey({ id: "e".repeat(16), scopes: [] }),
  ...Object.fromEntries(
    allScopes.map((scope) => [
      `no ${scope}`,
      anApiKey({
        id: OWN_ID,
        fundingAddress: WALLET,
        scopes: allScopes.filter((granted) => granted !== scope),
      }),
    ]),
  ),
};

const currencyQuery = `?address=${NATIVE}&chainId=11`;
const routeQuery = "?originChainId=11&destinationChainId=12";
const statusQuery = `?requestId=${KNOWN_REQUEST_ID}`;
const post = (url: string, payload: object): InjectOptions => ({ method: "POST", url, payload });
const claim = { chainId: 11, currency: NATIVE, recipient: OTHER_WALLET, amount: "5" };
const execution = {
  executionKind: "rawCalls",
  data: { chainId: 11, to: WALLET, data: "0x12345678", value: "0" },
  executionOptions: { referrer: "", subsidizeFees: true },
};
const authorization = {
  type: "nonce-mapping",
  walletChainId: 1337,
  wallet: WALLET,
  depositor: WALLET,
  nonce: 1_763_000_000_123,
  id: KNOWN_REQUEST_ID,
  signatureChainId: 42161,
};

/**
 * A request for each row of docs/ACCESS.md that needs more than a path. Whether the answer is 2xx depends
 * only on the access rules.
 */
export const examples: Readonly<Record<string, InjectOptions>> = {
  "GET /": { url: "/" },
  "GET /chains": { url: "/chains" },
  "GET /chains/liquidity": { url: "/chains/liquidity?chainId=11" },
  "GET /chains/health": { url: "/chains/health?chainId=11" },
  "GET /swap-sources": { url: "/swap-sources?chainId=11" },
  "POST /currencies/v2": post("/currencies/v2", {}),
  "POST /currencies/v1": post("/currencies/v1", {}),
  "GET /currencies/trending": { url: "/currencies/trending" },
  "GET /currencies/token/price": { url: `/currencies/token/price${currencyQuery}` },
  "GET /currencies/token/price/v2": { url: `/currencies/token/price/v2${currencyQuery}` },
  "GET /config/v2": { url: `/config/v2${routeQuery}` },
  "GET /config": { url: `/config${routeQuery}` },
  "POST /quote/v2": post("/quote/v2", aQuoteBody),
  "POST /quote": post("/quote", aQuoteBody),
  "POST /price": post("/price", aQuoteBody),
  "POST /execute": post("/execute", execution),
  "POST /execute/permits": post(`/execute/permits?signature=${SIGNATURE}`, {
    kind: "claim",
    requestId: KNOWN_REQUEST_ID,
  }),
  "POST /authorize": post(`/authorize?signature=${SIGNATURE}`, authorization),
  "POST /fast-fill": post("/fast-fill", { requestId: KNOWN_REQUEST_ID }),
  "GET /intents/status/v3": { url: `/intents/status/v3${statusQuery}` },
  "GET /intents/status/v2": { url: `/intents/status/v2${statusQuery}` },
  "GET /intents/status": { url: `/intents/status${statusQuery}` },
  "GET /intents/status/v3/stream": { url: `/intents/status/v3/stream${statusQuery}` },
  "GET /requests/:requestId/signature": { url: `/requests/${KNOWN_REQUEST_ID}/signature` },
  "GET /requests/:requestId/signature/v2": { url: `/requests/${KNOWN_REQUEST_ID}/signature/v2` },
  "GET /requests/:requestId/trace": { url: `/requests/${KNOWN_REQUEST_ID}/trace` },
  ...Object.fromEntries(
    ["/requests/v3", "/requests/v2", "/requests"].flatMap((path) => [
      [`GET ${path}, by id`, { url: `${path}?id=${KNOWN_REQUEST_ID}` }],
      [`GET ${path}, by user`, { url: `${path}?user=${WALLET}` }],
      [`GET ${path}, list`, { url: `${path}?status=success` }],
      [`GET ${path}, by apiKey`, { url: `${path}?apiKey=${OWN_ID}` }],
    ]),
  ),
  "POST /requests/metadata": post("/requests/metadata", {
    requestId: KNOWN_REQUEST_ID,
    additionalMetadata: { moonPayId: "1" },
  }),
  "POST /transactions/index": post("/transactions/index", { txHash: A_TX_HASH, chainId: "11" }),
  "POST /transactions/single": post("/transactions/single", {
    tx: JSON.stringify({ txHash: A_TX_HASH }),
    chainId: "11",
    requestId: KNOWN_REQUEST_ID,
  }),
  "POST /transactions/deposit-address/reindex": post("/transactions/deposit-address/reindex", {
    chainId: 11,
    depositAddress: WALLET,
  }),
  "GET /deposit-addresses/v1, by requestId": { url: `/deposit-addresses/v1${statusQuery}` },
  "GET /deposit-addresses/v1, by address": { url: `/deposit-addresses/v1?address=${WALLET}` },
  "GET /app-fees/:wallet/balances": { url: `/app-fees/${WALLET}/balances` },
  "POST /app-fees/:wallet/claim": post(`/app-fees/${WALLET}/claim`, claim),
  "GET /balance-events/:wallet": { url: `/balance-events/${WALLET}` },
  "GET /app-fees/:wallet/holds": { url: `/app-fees/${WALLET}/holds` },
  "GET /app-fees/:wallet/claims": { url: `/app-fees/${WALLET}/claims` },
  "GET /metrics/usage, of the asking key": { url: "/metrics/usage" },
  "GET /metrics/usage, by apiKey": { url: `/metrics/usage?apiKey=${OWN_ID}` },
  "POST /webhooks": post("/webhooks", { url: "https://app.example/hook" }),
  "GET /webhooks": { url: "/webhooks" },
  "POST /webhooks/:id/rotate": post(`${WEBHOOK}/rotate`, {}),
  "DELETE /webhooks/:id": { method: "DELETE", url: WEBHOOK },
  "GET /webhooks/:id/deliveries": { url: `${WEBHOOK}/deliveries` },
  "GET /webhooks/:id/deliveries/:deliveryId": { url: `${WEBHOOK}/deliveries/1` },
  "POST /webhooks/:id/deliveries/:deliveryId/replay": {
    method: "POST",
    url: `${WEBHOOK}/deliveries/1/replay`,
  },
  "POST /admin/keys": post("/admin/keys", { label: "backend", scopes: ["quote"] }),
  "GET /admin/keys": { url: "/admin/keys" },
  "PATCH /admin/keys/:id": {
    method: "PATCH",
    url: `/admin/keys/${OWN_ID}`,
    payload: { label: "renamed" },
  },
  "POST /admin/keys/:id/rotate": post(`/admin/keys/${OWN_ID}/rotate`, {}),
  "DELETE /admin/keys/:id": { method: "DELETE", url: `/admin/keys/${OWN_ID}` },
  "POST /admin/keys/:id/funding-address/challenge": post(`/admin/keys/${OWN_ID}/funding-address/challenge`, {
    address: WALLET,
  }),
  "POST /admin/pauses": post("/admin/pauses", { scope: "all", by: "ann", reason: "drill" }),
  "GET /admin/pauses": { url: "/admin/pauses" },
  "DELETE /admin/pauses": { method: "DELETE", url: "/admin/pauses?scope=all" },
  "POST /admin/keys/:id/funding-address": post(`/admin/keys/${OWN_ID}/funding-address`, {
    address: WALLET,
    signature: SIGNATURE,
  }),
  "GET /health/live": { url: "/health/live" },
  "GET /lives": { url: "/lives" },
  "GET /health/ready": { url: "/health/ready" },
  "GET /documentation/json": { url: "/documentation/json" },
  "GET /metrics, METRICS_TOKEN is set": { url: "/metrics" },
};

export interface AccessWorld {
  readonly app: FastifyInstance;
  /** The server's WebSocket URL, ws://host:port. */
  readonly url: string;
  /** `<METHOD> <path>` of every route of the server, except those that the framework adds. */
  readonly routes: ReadonlySet<string>;
}

/**
 * The real server with every possible route. In its fakes, the key `own` has a wallet, a webhook and a
 * request.
 */
export async function startAccessWorld(): Promise<AccessWorld> {
  const routes = new Set<string>();
  const recordRoutes = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook("onRoute", ({ method, url }: RouteOptions) => {
      for (const verb of [method].flat())
        if (verb !== "HEAD" && verb !== "OPTIONS") routes.add(`${verb} ${url}`);
    });
  };
  // One call creates the server and registers its routes. The framework emits this event in between.
  diagnostics.subscribe("fastify.initialization", recordRoutes);
  const { app } = await aServer(accessServices, {
    metrics: { token: "the-token-of-the-metrics-of-this-test" },
  });
  diagnostics.unsubscribe("fastify.initialization", recordRoutes);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, url: `ws://127.0.0.1:${port}`, routes };
}

const record: ApiKeyRecord = {
  ...anApiKey({ id: OWN_ID }),
  createdAtMs: 1,
  updatedAtMs: 1,
  revokedAtMs: undefined,
  previousUntilMs: undefined,
};
const issued = { key: `cwk_${OWN_ID}_x`, record };

const endpoint: WebhookEndpoint = {
  id: `wh_${"w".repeat(16)}`,
  url: "https://app.example/hook",
  label: "",
  headerNames: [],
  createdAtMs: 1,
  updatedAtMs: 1,
  previousUntilMs: undefined,
  failingSinceMs: undefined,
  lastError: undefined,
  lastDeliveredAtMs: undefined,
  waiting: 0,
  failed: 0,
};
const delivery: WebhookDelivery = {
  id: 1,
  requestId: KNOWN_REQUEST_ID,
  sequence: 1,
  state: "delivered",
  attempts: 1,
  nextAtMs: undefined,
  createdAtMs: 1,
  endedAtMs: 1,
};

/**
 * Returns a value that belongs to the key `own`.
 * @throws ServiceError NOT_FOUND for any other key, like the real store
 */
function ofOwner<T>(keyId: string, value: T): T {
  if (keyId !== OWN_ID) throw new ServiceError("NOT_FOUND", "Webhook or delivery not found");
  return value;
}

/** Reports every request as known and final. */
const follow: StatusPush["follow"] = async (_requestId, follower) => {
  follower.updated({ view: aView, sequence: 3, onlyFinal: false });
  return () => undefined;
};

const accessServices: Partial<RouteFakes> = {
  apiKeys: fakeApiKeys(keys),
  operatorToken: new Secret(OPERATOR_TOKEN),
  keyAdmin: fakeKeyAdmin({
    create: async () => issued,
    change: async () => record,
    rotate: async () => issued,
    revoke: async () => record,
    challengeFundingAddress: async () => ({ message: "sign this", expiresAtMs: 1 }),
    linkFundingAddress: async () => record,
  }),
  pauseAdmin: {
    list: async () => [],
    pause: async () => ({ scope: { kind: "all" }, pausedBy: "ann", reason: "drill", sinceMs: 1 }),
    resume: async () => undefined,
  },
  reindexAddress: async () => ({
    message: "No funds found",
    triggeredCurrencies: [],
    checkedCurrencies: 0,
    failedCurrencies: 0,
    failedAddresses: [],
  }),
  lookUpAddress: async () => ({
    depositAddress: WALLET,
    address: WALLET,
    type: "open",
    depositAddressType: "open",
    requestId: KNOWN_REQUEST_ID,
    supersededByRequestId: null,
    orderId: HASH,
    depositor: WALLET,
    recoveryAddress: null,
    refundTo: WALLET,
    chainId: 11,
    originChainId: 11,
    currency: null,
    originCurrency: NATIVE,
    destinationChainId: 12,
    destinationCurrency: NATIVE,
    recipient: WALLET,
    chainIds: [11],
    createdAt: "2026-01-01T00:00:00.000Z",
    activeAt: "2026-01-01T00:00:00.000Z",
    funds: [],
    deposits: [],
  }),
  listRequests: async () => ({ requests: [], next: undefined, total: undefined, unattributed: [] }),
  requestTrace: async (requestId) => ({
    requestId,
    status: "waiting",
    fundsAt: "user",
    summary: "No deposit was seen.",
    entries: [],
  }),
  push: fakePush({ follow }),
  webhooks: fakeWebhooks({
    create: async () => ({ secret: "secret", endpoint }),
    rotate: async (keyId) => ({ secret: "secret", endpoint: ofOwner(keyId, endpoint) }),
    remove: async (keyId) => ofOwner(keyId, undefined),
    deliveries: async (keyId) => ofOwner(keyId, [delivery]),
    delivery: async (keyId) => ofOwner(keyId, { ...delivery, log: [] }),
    replay: async (keyId) => ofOwner(keyId, delivery),
  }),
};
