import type { StatusChange } from "../requests/status-feed.port.ts";

/** How webhooks are delivered. */
export interface WebhookPolicy {
  /** Also to addresses that only the operator's own network reaches, and by plain http. */
  readonly allowPrivate: boolean;
  /** Bound of one attempt, ms. */
  readonly timeoutMs: number;
}

/** Headers of the receiver's own, by name. They may hold secrets. */
export type WebhookHeaders = Readonly<Record<string, string>>;

/** Hex HMAC-SHA256 of a text. */
export type Hmac = (secret: string, text: string) => string;

/** Where the owner of a key wants to be told of changes. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly label: string;
  readonly headerNames: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Until then the secret before signs as well. */
  readonly previousUntilMs: number | undefined;
  /** Since when every attempt has failed; undefined: the last one did not. */
  readonly failingSinceMs: number | undefined;
  readonly lastError: string | undefined;
  readonly lastDeliveredAtMs: number | undefined;
  readonly waiting: number;
  readonly failed: number;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

export interface WebhookAttempt {
  readonly n: number;
  readonly atMs: number;
  readonly tookMs: number;
  /** Of the answer; undefined: there was none. */
  readonly status: number | undefined;
  /** Why it failed; undefined: it did not. */
  readonly error: string | undefined;
  /** How the answer began. */
  readonly response: string | undefined;
}

export interface WebhookDelivery {
  readonly id: number;
  readonly requestId: string;
  readonly sequence: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is tried next, if it waits. */
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

/** Endpoints and deliveries of keys. Whatever belongs to another key does not exist. */
export interface WebhookRegister {
  /**
   * When the key may create its next endpoint, if it creates at most so many in 24 hours; not after `nowMs`:
   * now.
   */
  mayCreateAtMs(keyId: string, maxPerDay: number, nowMs: number): Promise<number>;
  /** Undefined: the key has `most` already. */
  create(endpoint: NewWebhook, most: number): Promise<WebhookEndpoint | undefined>;
  list(keyId: string): Promise<readonly WebhookEndpoint[]>;
  rotate(keyId: string, id: string, change: SecretChange): Promise<WebhookEndpoint | undefined>;
  /** What waits for it is given up. False: there is none. */
  remove(keyId: string, id: string, atMs: number): Promise<boolean>;
  /** Newest first; undefined: there is no such endpoint. */
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
  /** Lets it wait again, with all its attempts. */
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
  /** Until then the secret before signs as well. */
  readonly previousUntilMs: number;
  readonly atMs: number;
}

/** A delivery whose turn it is, held by the lease. */
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
  /** Attempts before this one since it was written or replayed. */
  readonly tries: number;
  readonly change: StatusChange;
  readonly referrer: string | undefined;
  /** Where its money comes through; absent: it is paid otherwise. */
  readonly depositAddress?: {
    readonly address: string;
    readonly strict: boolean;
    readonly depositor: string;
  };
}

/** What became of one attempt. */
export interface AttemptOutcome {
  readonly tookMs: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly response: string | undefined;
}

/** What becomes of the delivery after an attempt. */
export type DeliveryEnd = "delivered" | "failed" | { readonly againAtMs: number };

export interface WebhookQueue {
  /**
   * Takes deliveries whose turn it is: of each request and endpoint the first that waits, and of each
   * endpoint and each key only a few at once. Endpoints that fail come last. Nobody else gets them before the
   * lease ends.
   */
  claim(wish: {
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly perEndpoint: number;
    readonly perKey: number;
    readonly limit: number;
  }): Promise<readonly DueDelivery[]>;
  /**
   * Writes the attempt down. False: the lease was lost, and somebody else has written or will write what
   * became of it.
   */
  finish(due: DueDelivery, outcome: AttemptOutcome, end: DeliveryEnd, atMs: number): Promise<boolean>;
  /**
   * Deletes deliveries that ended, events that were told, and endpoints that were removed or whose key was
   * revoked before `beforeMs`; at most `limit` of each. Returns the most of one kind.
   */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** Carries one delivery to its receiver. Never throws. */
export interface WebhookSender {
  send(message: {
    readonly url: string;
    readonly headers: WebhookHeaders;
    readonly body: string;
    readonly signal: AbortSignal;
  }): Promise<AttemptOutcome>;
}

/** What the owner of a key may do about its webhooks. All throw ServiceError: NOT_FOUND, INVALID_REQUEST. */
export interface WebhookAdmin {
  create(
    keyId: string,
    wish: { readonly url: string; readonly label: string; readonly headers: WebhookHeaders },
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
