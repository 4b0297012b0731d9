import type { ObserveCall } from "../nodes/rpc-call.ts";
import { createRestClient, jsonOf } from "../nodes/rest-client.ts";
import {
  readUnspentOutputs,
  readFeeRate,
  readOutspend,
  type ReportedOutput,
  type ReportedSpend,
} from "@causeway/families/bitcoin";

/** Hints from an explorer, which a node must confirm. */
export interface SpendHints {
  /** @throws RpcFault */
  spendOf(txid: string, vout: number): Promise<ReportedSpend>;
  close(): Promise<void>;
}

/** Further data of an explorer: outputs of an address, and fees. */
export interface Explorer extends SpendHints {
  /** @param address in the network's format @throws RpcFault */
  outputsOf(address: string): Promise<readonly ReportedOutput[]>;
  /** Satoshis per 1000 virtual bytes; undefined if it has no estimate. @throws RpcFault */
  feeRate(withinBlocks: number): Promise<bigint | undefined>;
}

/** How long answers are shared, ms: connections read the same addresses at about the same time. */
const SHARED_MS = 2_000;

/**
 * @param url base URL of Esplora's REST API
 * @param shared answers of the same explorer, by path, that the connections to several nodes share for a
 * moment
 */
export function createExplorer(
  url: string,
  onCall?: ObserveCall,
  shared?: Map<string, Promise<unknown>>,
): Explorer {
  const client = createRestClient({ url, ...(onCall !== undefined && { onCall }) });
  const askAlone = async (name: string, path: string): Promise<unknown> =>
    jsonOf(name, await client.get(name, path));
  const ask = async (name: string, path: string): Promise<unknown> => {
    const known = shared?.get(path);
    if (known !== undefined) return await known;
    const answer = askAlone(name, path);
    if (shared !== undefined) {
      shared.set(path, answer);
      setTimeout(() => shared.delete(path), SHARED_MS).unref();
    }
    return await answer;
  };
  return {
    spendOf: async (txid, vout) => readOutspend(await ask("outspend", `/tx/${txid}/outspend/${vout}`)),
    outputsOf: async (address) => readUnspentOutputs(await ask("utxo", `/address/${address}/utxo`)),
    feeRate: async (withinBlocks) => readFeeRate(await ask("fee-estimates", "/fee-estimates"), withinBlocks),
    close: async () => await client.close(),
  };
}
