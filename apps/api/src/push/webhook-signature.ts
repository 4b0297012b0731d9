import type { DueDelivery, Hmac, WebhookHeaders } from "./webhooks.port.ts";

/**
 * Signs a webhook: hex HMAC-SHA256 of `<timestamp>.<body>` with the endpoint's secret. During the grace
 * period after a rotation, also signs with the previous secret.
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
