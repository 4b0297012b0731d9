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

/** Also reads the outputs of an address and fee estimates from an explorer. */
export interface Explorer extends SpendHints {
  /** @param address in the network's format @throws RpcFault */
  outputsOf(address: string): Promise<readonly ReportedOutput[]>;
  /** Satoshis per 1000 virtual bytes; undefined if it has no estimate. @throws RpcFault */
  feeRate(withinBlocks: number): Promise<bigint | undefined>;
}

/** @param url base URL of Esplora's REST API */
export function createExplorer(url: string, onCall?: ObserveCall): Explorer {
  const client = createRestClient({ url, ...(onCall !== undefined && { onCall }) });
  const request = async (name: string, path: string): Promise<unknown> =>
    jsonOf(name, await client.get(name, path));
  return {
    spendOf: async (txid, vout) => readOutspend(await request("outspend", `/tx/${txid}/outspend/${vout}`)),
    outputsOf: async (address) => readUnspentOutputs(await request("utxo", `/address/${address}/utxo`)),
    feeRate: async (withinBlocks) =>
      readFeeRate(await request("fee-estimates", "/fee-estimates"), withinBlocks),
    close: async () => await client.close(),
  };
}

/** How long lists are shared, ms: connections to several nodes read an address at about the same time. */
const SHARED_MS = 2_000;

/** @param lists output lists of this explorer by address; undefined disables sharing */
export function shareOutputs(
  explorer: Pick<Explorer, "outputsOf">,
  lists: Map<string, Promise<readonly ReportedOutput[]>> | undefined,
): Pick<Explorer, "outputsOf"> {
  if (lists === undefined) return explorer;
  return {
    outputsOf: async (address) => {
      const shared = lists.get(address);
      if (shared !== undefined) return await shared;
      const list = explorer.outputsOf(address);
      lists.set(address, list);
      setTimeout(() => lists.delete(address), SHARED_MS).unref();
      return await list;
    },
  };
}
