import { jsonList, jsonText } from "@causeway/service-kit";
import type { StatusView } from "./status-view.port.ts";

/**
 * The wire's words for where a request stands, as JSON text in the form of `statusAnswer`. Written out by
 * hand: this is the most asked of all answers, and `JSON.stringify` of an object of the same fields takes
 * several times as long. Hashes, states and places hold nothing to escape.
 */
export function statusJson(view: StatusView): string {
  // Left out when absent: clients retry until their timeout on any details that do not begin with
  // "Transaction failed".
  const details = view.details === undefined ? "" : `"details":${jsonText(view.details)},`;
  const superseded =
    view.supersededByRequestId === undefined
      ? ""
      : `,"supersededByRequestId":"${view.supersededByRequestId}"`;
  return (
    `{"requestId":"${view.requestId}","status":"${view.status}",${details}` +
    `"inTxHashes":${hashes(view.inTxHashes)},"txHashes":${hashes(view.txHashes)},` +
    `"refundTxHashes":${hashes(view.refundTxHashes)},` +
    `"updatedAt":${view.updatedAtMs},"time":${view.updatedAtMs},"quoteCreatedAt":${view.quoteCreatedAtMs},` +
    `"originChainId":${view.originChainId},"destinationChainId":${view.destinationChainId},` +
    `"failReason":${jsonText(view.failReason)},"refundFailReason":${jsonText(view.refundFailReason)},` +
    `"final":${view.final},"fundsAt":"${view.fundsAt}","nextAction":${jsonText(view.nextAction)},` +
    `"pollAfterMs":${view.pollAfterMs}${superseded}}`
  );
}

const hashes = (list: readonly string[]): string => jsonList(list, (hash) => `"${hash}"`);
