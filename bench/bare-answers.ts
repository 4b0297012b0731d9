/** Real answers of the API, for the bare server to repeat. */
export interface BareAnswers {
  /** By {@link bareKey} of the request. */
  readonly quotes: Readonly<Record<string, string>>;
  readonly status: string;
}

/** Which answer a quote request gets: answers differ in length by the currency that is paid with. */
export function bareKey(body: { readonly originChainId: number; readonly originCurrency: string }): string {
  return `${body.originChainId}:${body.originCurrency}`;
}
