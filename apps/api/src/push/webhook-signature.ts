import type { DueDelivery, Hmac, WebhookHeaders } from "./webhooks.port.ts";

/**
 * Signs a webhook: the hex HMAC-SHA256 of `<timestamp>.<body>` with the endpoint's secret, and for a while
 * after a rotation also with the previous one.
 */
export function signatureHeaders(
  { secret, previous }: Pick<DueDelivery["endpoint"], "secret" | "previous">,
  body: string,
  nowMs: number,
  hmac: Hmac,
): WebhookHeaders {
  const signed = `${nowMs}.${body}`;
  return {
    "x-signature-timestamp": String(nowMs),
    "x-signature-sha256": hmac(secret, signed),
    ...(previous !== undefined &&
      nowMs < previous.untilMs && { "x-signature-sha256-previous": hmac(previous.secret, signed) }),
  };
}
