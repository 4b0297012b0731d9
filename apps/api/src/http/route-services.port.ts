import type { Hex, RequestAttestationFacts, RequestId } from "@causeway/domain";
import type { Secret } from "@causeway/config";
import type { AppBalanceRoutes } from "../balances/app-balance-routes.port.ts";
import type { ApiKeyIdentity, ApiKeys } from "./api-keys.port.ts";
import type { KeyAdmin } from "../callers/key-admin.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { DepositAddressRoutes } from "../deposits/addresses/deposit-address-routes.port.ts";
import type { DiscoveryRoutes } from "../discovery/discovery-routes.port.ts";
import type { ExecuteOutcome } from "../executions/execute.port.ts";
import type { FastFillOutcome, FastFillWish } from "../balances/fast-fill.port.ts";
import type { Idempotency, IdempotencyLease, StoredAnswer } from "./idempotency.port.ts";
import type { NonceAuthorization } from "../chains/nonce-mappings.port.ts";
import type { PushRoutes } from "../push/push-routes.port.ts";
import type { RateLimits } from "./rate-limits.port.ts";
import type { HistoryRoutes } from "../requests/history/request-history-routes.port.ts";
import type { AskingKey } from "../balances/sponsors.port.ts";
import type { StatusView } from "../requests/status-view.port.ts";
import type { WebhookAdmin } from "../push/webhooks.port.ts";
import type { Usage } from "./usage.port.ts";
import type {
  ChainsAnswer,
  ExecuteInput,
  MessageAnswer,
  PriceAnswer,
  QuoteAnswer,
  QuoteInput,
  ReadinessAnswer,
  SwapSourcesAnswer,
} from "@causeway/wire";

/** Everything the routes can ask for. Each member is a use case with its own services already given. */
export interface RouteServices {
  /** The same object as long as nothing changed: the route keeps its bytes. */
  listChains(): ChainsAnswer;
  /** @throws ServiceError UNSUPPORTED_CHAIN */
  swapSources(chainId: number): SwapSourcesAnswer;
  /** In the words of `tell`. */
  createQuote<Told>(
    input: QuoteInput,
    tell: (answer: QuoteAnswer) => Told,
    keyId?: string,
    key?: AskingKey,
  ): Promise<Told>;
  /** @throws ServiceError as a quote does */
  priceIntent(input: QuoteInput, keyId?: string, key?: AskingKey): Promise<PriceAnswer>;
  /** @throws ServiceError for whatever is refused or cannot be done now, RpcFault, LeaseLost */
  executeCalls(
    caller: ApiKeyIdentity,
    input: ExecuteInput,
    lease: IdempotencyLease | undefined,
  ): Promise<ExecuteOutcome>;
  /**
   * @throws ServiceError PERMIT_FAILED, INVALID_REQUEST, RATE_LIMITED, SERVICE_UNAVAILABLE,
   * PRICE_FETCH_FAILED, RPC_HTTP_ERROR; RpcFault, LeaseLost
   */
  executePermit(
    posted: { readonly kind: string; readonly requestId: RequestId; readonly signature: Hex },
    keep?: { readonly lease: IdempotencyLease; readonly answer: StoredAnswer },
  ): Promise<void>;
  /**
   * @returns the request that the nonce is for.
   * @throws ServiceError INVALID_REQUEST, UNSUPPORTED_CHAIN, NONCE_TAKEN
   */
  authorizeNonce(said: NonceAuthorization): Promise<RequestId>;
  /**
   * @throws ServiceError REQUEST_NOT_FOUND, REQUEST_IN_PROGRESS, FAST_FILL_REFUSED, INSUFFICIENT_APP_BALANCE,
   * FORBIDDEN, PRICE_FETCH_FAILED, RPC_HTTP_ERROR
   * @throws LeaseLost, RpcFault
   */
  requestFastFill(wish: FastFillWish): Promise<FastFillOutcome>;
  /** Undefined when no request has this id. */
  requestStatus(requestId: RequestId): Promise<StatusView | undefined>;
  /** Undefined when no request has this id. */
  requestSignature(requestId: RequestId, layout: AttestationLayout): Promise<SignedRequest | undefined>;
  /**
   * @param caller takes turns with others
   * @throws ServiceError TRANSACTION_NOT_FOUND, UNSUPPORTED_CHAIN, INVALID_REQUEST, SERVICE_UNAVAILABLE
   */
  indexTransaction(
    report: TransactionReport & { readonly requestId?: RequestId },
    caller: string,
  ): Promise<MessageAnswer>;
  /**
   * @param caller takes turns with others
   * @throws ServiceError REQUEST_NOT_FOUND, UNSUPPORTED_CHAIN, INVALID_REQUEST, SERVICE_UNAVAILABLE
   */
  recordSingleTransaction(
    report: TransactionReport & { readonly requestId: RequestId },
    caller: string,
  ): Promise<MessageAnswer>;
  readiness(): Promise<ReadinessAnswer>;
  readonly discovery: DiscoveryRoutes;
  readonly depositAddresses: DepositAddressRoutes;
  readonly appBalance: AppBalanceRoutes;
  readonly history: HistoryRoutes;
  readonly apiKeys: ApiKeys;
  readonly keyAdmin: KeyAdmin;
  /** Undefined: keys are not kept over HTTP. */
  readonly operatorToken: Secret | undefined;
  readonly idempotency: Idempotency;
  /** Undefined: nothing is limited. */
  readonly limits: RateLimits | undefined;
  readonly usage: Usage;
  readonly push: PushRoutes;
  readonly webhooks: WebhookAdmin;
  readonly clock: Clock;
}

/** Which facts are signed: the first has the amount, the second the recipient's currency. */
export type AttestationLayout = "v1" | "v2";

/** What was agreed, and the solver's personal signature (65 bytes) of its hash. */
export interface SignedRequest {
  readonly facts: RequestAttestationFacts;
  /** The accounts and the currency as their chains' clients write them. */
  readonly words: Readonly<
    Record<"originUser" | "originCurrency" | "destinationUser" | "destinationCurrency", string>
  >;
  readonly signature: Hex;
}

/** A client says that this transaction exists; nothing about it is believed before the chain says so. */
export interface TransactionReport {
  readonly chainId: number;
  /** As the chain's users write it. */
  readonly txHash: string;
}
