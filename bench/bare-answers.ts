/** Real answers of the API, for the bare server to repeat. */
export interface BareAnswers {
  /** By {@link bareKey} of the request. */
  readonly quotes: Readonly<Record<string, string>>;
  readonly status: string;
}

/** The kind of answer that a quote request gets: the length depends on the currency paid. */
export function bareKey(body: { readonly originChainId: number; readonly originCurrency: string }): string {
  return `${body.originChainId}:${body.originCurrency}`;
}
