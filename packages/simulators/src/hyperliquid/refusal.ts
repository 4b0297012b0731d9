/** The exchange understood a question or an action and says no: `{status: "err", response}`. */
export class ExchangeRefusal extends Error {
  override readonly name = "ExchangeRefusal";
}

/** It is not of the form that the exchange reads: HTTP 422. */
export class Undecodable extends Error {
  override readonly name = "Undecodable";
}
