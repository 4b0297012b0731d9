/** How webhooks are delivered. */
export interface WebhookPolicy {
  /** Also to addresses that only the operator's own network reaches, and by plain http. */
  readonly allowPrivate: boolean;
  /** Bound of one attempt, ms. */
  readonly timeoutMs: number;
}
