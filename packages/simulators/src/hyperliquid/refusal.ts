/** Hyperliquid refuses a well-formed request or action: `{status: "err", response}`. */
export class HyperliquidError extends Error {
  override readonly name = "HyperliquidError";
}

/** The request is malformed: HTTP 422. */
export class Undecodable extends Error {
  override readonly name = "Undecodable";
}
