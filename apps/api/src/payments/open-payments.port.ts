/** Payments of one lane that are in no block. */
export interface OpenPayments {
  readonly chainId: number;
  readonly count: number;
  /** ms since the epoch. */
  readonly oldestMs: number;
}
