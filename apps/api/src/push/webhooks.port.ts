import type { StatusChange } from "../requests/status-feed.port.ts";

/** How webhooks are delivered. */
export interface WebhookPolicy {
  /** Allows private addresses and plain http. */
  readonly allowPrivate: boolean;
  /** Timeout of one attempt, ms. */
  readonly timeoutMs: number;
}

/** Custom headers of a receiver, by name. They may contain secrets. */
export type WebhookHeaders = Readonly<Record<string, string>>;

/** Hex HMAC-SHA256 of a text. */
export type Hmac = (secret: string, text: string) => string;

/** A webhook endpoint of an API key. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly label: string;
  readonly headerNames: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The previous secret also signs until then. */
  readonly previousUntilMs: number | undefined;
  /** When the current series of failures began; undefined: the last attempt succeeded. */
  readonly failingSinceMs: number | undefined;
  readonly lastError: string | undefined;
  /** Undefined: nothing was delivered yet. */
  readonly lastDeliveredAtMs: number | undefined;
  /** Pending deliveries. */
  readonly waiting: number;
  /** Deliveries that were given up. */
  readonly failed: number;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

export interface WebhookAttempt {
  readonly n: number;
  readonly atMs: number;
  readonly tookMs: number;
  /** HTTP status; undefined: no response. */
  readonly status: number | undefined;
  /** Why the attempt failed. Undefined: it succeeded. */
  readonly error: string | undefined;
  /** The beginning of the response. */
  readonly response: string | undefined;
}

export interface WebhookDelivery {
  readonly id: number;
  readonly requestId: string;
  readonly sequence: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When the next attempt is due. Undefined: the delivery is not pending. */
  readonly nextAtMs: number | undefined;
  readonly createdAtMs: number;
  readonly endedAtMs: number | undefined;
}

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined;
  readonly requestId?: string | undefined;
  /** Only deliveries with smaller ids: the next page. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Endpoints and deliveries of a key. Those of other keys are treated as missing. */
export interface WebhookRegister {
  /**
   * When the key may create its next endpoint under this limit per 24 hours. `nowMs` or earlier means now.
   */
  nextCreationAtMs(keyId: string, maxPerDay: number, nowMs: number): Promise<number>;
  /** Undefined: the key has reached its limit of endpoints. */
  create(endpoint: NewWebhook, maxEndpoints: number): Promise<WebhookEndpoint | undefined>;
  list(keyId: string): Promise<readonly WebhookEndpoint[]>;
  rotate(keyId: string, id: string, change: SecretChange): Promise<WebhookEndpoint | undefined>;
  /** Removes an endpoint and cancels its pending deliveries; false if the endpoint does not exist. */
  remove(keyId: string, id: string, atMs: number): Promise<boolean>;
  /** Deliveries of an endpoint, newest first; undefined if the endpoint does not exist. */
  deliveries(
    keyId: string,
    id: string,
    query: DeliveryQuery,
  ): Promise<readonly WebhookDelivery[] | undefined>;
  delivery(
    keyId: string,
    id: string,
    deliveryId: number,
  ): Promise<(WebhookDelivery & { readonly log: readonly WebhookAttempt[] }) | undefined>;
  /**
   * Makes a delivery pending again, with the full number of attempts; undefined if it does not exist.
   */
  replay(keyId: string, id: string, deliveryId: number, atMs: number): Promise<WebhookDelivery | undefined>;
}

export interface NewWebhook {
  readonly id: string;
  readonly keyId: string;
  readonly url: string;
  readonly label: string;
  readonly headers: WebhookHeaders;
  readonly secret: string;
  readonly atMs: number;
}

export interface SecretChange {
  readonly secret: string;
  /** The previous secret also signs until then. */
  readonly previousUntilMs: number;
  readonly atMs: number;
}

/** A due delivery that was leased to this worker. */
export interface DueDelivery {
  readonly id: number;
  readonly lease: string;
  readonly endpoint: {
    readonly id: string;
    readonly url: string;
    readonly headers: WebhookHeaders;
    readonly secret: string;
    readonly previous: { readonly secret: string; readonly untilMs: number } | undefined;
  };
  /** Earlier attempts since the delivery was created or last replayed. */
  readonly tries: number;
  readonly change: StatusChange;
  readonly referrer: string | undefined;
  /** The deposit address of the request; absent if it has none. */
  readonly depositAddress?: {
    readonly address: string;
    readonly strict: boolean;
    readonly depositor: string;
  };
}

/** The outcome of one attempt. */
export interface AttemptOutcome {
  readonly tookMs: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly response: string | undefined;
}

/** The state of the delivery after an attempt. */
export type DeliveryEnd = "delivered" | "failed" | { readonly againAtMs: number };

export interface WebhookQueue {
  /**
   * Leases due deliveries: at most one per request and endpoint, and a few per endpoint and key; failing
   * endpoints come last. No other worker gets them before the lease ends.
   */
  claim(input: {
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly perEndpoint: number;
    readonly perKey: number;
    readonly limit: number;
  }): Promise<readonly DueDelivery[]>;
  /** Records the attempt. False: the lease was lost, and another worker records the outcome. */
  finish(due: DueDelivery, outcome: AttemptOutcome, end: DeliveryEnd, atMs: number): Promise<boolean>;
  /**
   * Deletes finished deliveries, events without deliveries, and endpoints that were removed or whose key was
   * revoked, if they ended before `beforeMs`. Deletes at most `limit` rows of each kind, and returns the
   * highest count.
   */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** Sends one delivery to its receiver. Never throws. */
export interface WebhookSender {
  send(message: {
    readonly url: string;
    readonly headers: WebhookHeaders;
    readonly body: string;
    readonly signal: AbortSignal;
  }): Promise<AttemptOutcome>;
}

/** Webhook administration for the owner of a key. Throws ServiceError NOT_FOUND, INVALID_REQUEST. */
export interface WebhookAdmin {
  create(
    keyId: string,
    input: { readonly url: string; readonly label: string; readonly headers: WebhookHeaders },
  ): Promise<{ readonly secret: string; readonly endpoint: WebhookEndpoint }>;
  list(keyId: string): Promise<readonly WebhookEndpoint[]>;
  rotate(
    keyId: string,
    id: string,
    graceSeconds: number,
  ): Promise<{ readonly secret: string; readonly endpoint: WebhookEndpoint }>;
  remove(keyId: string, id: string): Promise<void>;
  deliveries(keyId: string, id: string, query: DeliveryQuery): Promise<readonly WebhookDelivery[]>;
  delivery(
    keyId: string,
    id: string,
    deliveryId: number,
  ): Promise<WebhookDelivery & { readonly log: readonly WebhookAttempt[] }>;
  replay(keyId: string, id: string, deliveryId: number): Promise<WebhookDelivery>;
}
