import type { ObserveCall } from "../nodes/rpc-call.ts";
import { createRestClient, jsonOf } from "../nodes/rest-client.ts";
import {
  readUnspentOutputs,
  readFeeRate,
  readOutspend,
  type ReportedOutput,
  type ReportedSpend,
} from "@causeway/families/bitcoin";

/** What is asked of an explorer: hints that a node has to confirm. */
export interface SpendHints {
  /** @throws RpcFault */
  spendOf(txid: string, vout: number): Promise<ReportedSpend>;
  close(): Promise<void>;
}

/** What else an explorer knows: what an address holds, and what fees are. */
export interface Explorer extends SpendHints {
  /** @param address as the network writes it @throws RpcFault */
  outputsOf(address: string): Promise<readonly ReportedOutput[]>;
  /** Satoshis per 1 000 virtual bytes; undefined when it has no opinion. @throws RpcFault */
  feeRate(withinBlocks: number): Promise<bigint | undefined>;
}

/** @param url base URL of Esplora's REST interface */
export function createExplorer(url: string, onCall?: ObserveCall): Explorer {
  const client = createRestClient({ url, ...(onCall !== undefined && { onCall }) });
  const ask = async (name: string, path: string): Promise<unknown> =>
    jsonOf(name, await client.get(name, path));
  return {
    spendOf: async (txid, vout) => readOutspend(await ask("outspend", `/tx/${txid}/outspend/${vout}`)),
    outputsOf: async (address) => readUnspentOutputs(await ask("utxo", `/address/${address}/utxo`)),
    feeRate: async (withinBlocks) => readFeeRate(await ask("fee-estimates", "/fee-estimates"), withinBlocks),
    close: async () => await client.close(),
  };
}
