/** Selects requests of one origin chain with a deadline before a time. */
export interface DueOnChain {
  readonly chainId: number;
  readonly deadlineBeforeMs: number;
}
