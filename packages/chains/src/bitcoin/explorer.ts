import type { ObserveCall } from "../nodes/rpc-call.ts";
import { createRestClient, jsonOf } from "../nodes/rest-client.ts";
import { readOutspend, type ReportedSpend } from "./answers.ts";

/** What is asked of an explorer: hints that a node has to confirm. */
export interface SpendHints {
  /** @throws RpcFault */
  spendOf(txid: string, vout: number): Promise<ReportedSpend>;
  close(): Promise<void>;
}

/** @param url base URL of Esplora's REST interface */
export function createSpendHints(url: string, onCall?: ObserveCall): SpendHints {
  const client = createRestClient({
    url,
    maxAnswerBytes: 64 * 1024,
    ...(onCall !== undefined && { onCall }),
  });
  return {
    spendOf: async (txid, vout) =>
      readOutspend(jsonOf("outspend", await client.get("outspend", `/tx/${txid}/outspend/${vout}`))),
    close: async () => await client.close(),
  };
}
