import type { DueDelivery, Hmac, WebhookHeaders } from "./webhooks.port.ts";
import type { AddressFormat } from "../chains/address-format.port.ts";
import { statusView } from "../requests/index.ts";
import { signatureHeaders } from "./webhook-signature.ts";

/**
 * Body and headers of one attempt. The body is compact JSON, so that receivers that parse and serialize it
 * get the same bytes.
 */
export function webhookMessage(
  due: DueDelivery,
  nowMs: number,
  hmac: Hmac,
  format: AddressFormat,
): { readonly body: string; readonly headers: WebhookHeaders } {
  const { id, endpoint, change, tries } = due;
  const body = webhookBody(due, nowMs, format);
  return {
    body,
    headers: {
      ...endpoint.headers,
      "content-type": "application/json",
      "user-agent": "causeway-webhooks/1",
      ...signatureHeaders(endpoint, body, nowMs, hmac),
      // Equal for all attempts: receivers use it to detect duplicates.
      "x-webhook-id": String(id),
      "x-webhook-sequence": String(change.sequence),
      "x-webhook-attempt": String(tries + 1),
    },
  };
}

function webhookBody(
  { change, referrer, depositAddress }: Pick<DueDelivery, "change" | "referrer" | "depositAddress">,
  nowMs: number,
  format: AddressFormat,
): string {
  const view = statusView(change.record, nowMs, format);
  return JSON.stringify({
    event: "request.status.updated",
    timestamp: nowMs,
    data: {
      status: view.status,
      inTxHashes: view.inTxHashes,
      txHashes: view.txHashes,
      updatedAt: view.updatedAtMs,
      originChainId: view.originChainId,
      destinationChainId: view.destinationChainId,
      depositAddress:
        depositAddress === undefined
          ? null
          : {
              address: depositAddress.address,
              depositAddressType: depositAddress.strict ? "strict" : "open",
              depositor: depositAddress.depositor,
              depositTxHash: view.inTxHashes[0] ?? null,
            },
      requestId: view.requestId,
      referrer: referrer ?? null,
      details: view.details ?? null,
      failReason: view.failReason,
      refundFailReason: view.refundFailReason,
      sequence: change.sequence,
    },
  });
}
