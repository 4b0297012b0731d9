/** Hyperliquid refuses a well-formed request or action: `{status: "err", response}`. */
export class ExchangeRefusal extends Error {
  override readonly name = "ExchangeRefusal";
}

/** The request is malformed: HTTP 422. */
export class Undecodable extends Error {
  override readonly name = "Undecodable";
}
