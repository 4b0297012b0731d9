import type { Address, Hex32 } from "@causeway/domain";
import { final, currentFirst, refuted, type ConfiguredChain, type EvidenceSource } from "@causeway/families";
import { secondsOf, tron, tronAddress } from "@causeway/families/tron";
import { MAX_EVIDENCE_BYTES } from "../evm/receipt-size.ts";
import { searchWithdrawal } from "../evm/withdrawal-search.ts";
import { chainEvidence, type SourceOptions } from "../evidence-source.ts";
import { createRestClient } from "../nodes/rest-client.ts";
import { createTronRpc } from "./rpc.ts";

/** Blocks in which to search the execution of a token withdrawal: the maximum of one request. */
const LOOK_BACK_BLOCKS = 5_000n;
/** JSON-RPC is a path below the node's base URL. */
const JSON_RPC = /\/jsonrpc\/?$/;

/** Only solid blocks count. @throws RangeError also if an endpoint is not a `/jsonrpc` URL */
export function tronEvidence(chain: ConfiguredChain, options: SourceOptions = {}): EvidenceSource {
  return chainEvidence(chain, tron, options, ({ url, facts, observed }) => {
    if (!JSON_RPC.test(url))
      throw new RangeError(`chain ${chain.name}: every httpRpcUrl must end in /jsonrpc`);
    const rest = createRestClient({
      url: url.replace(JSON_RPC, ""),
      maxAnswerBytes: MAX_EVIDENCE_BYTES,
      ...(facts.apiKey === undefined ? {} : { headers: { "TRON-PRO-API-KEY": facts.apiKey } }),
      ...observed,
    });
    const rpc = createTronRpc(rest, facts);
    return {
      transaction: async (id) => {
        const evidence = await rpc.transaction(`0x${id}`);
        if (evidence.kind !== "final" || evidence.value.failure === undefined) return evidence;
        return refuted(`transaction failed: ${evidence.value.failure}`);
      },
      withdrawal: async (payload, { depositories }, hint) => {
        const stateAt = async (depository: Address, id: Hex32) => ({
          depository,
          ...(await rpc.requestState(depository, id)),
        });
        const machine = {
          transaction: rpc.transaction,
          request: rpc.request,
          requestStates: async (id: Hex32) =>
            final(await Promise.all(depositories.map(async (depository) => await stateAt(depository, id)))),
          format: tronAddress,
          retryAfterSeconds: tron.retryAfterSeconds(facts),
        };
        const search = {
          hint: hint === undefined ? undefined : (`0x${hint}` as const),
          lookBackBlocks: LOOK_BACK_BLOCKS,
        };
        return await searchWithdrawal(machine, currentFirst(depositories), payload, search);
      },
      newestFinal: async () => {
        const block = await rpc.newestSolid();
        return { height: block.number, timestamp: secondsOf(block) };
      },
      close: rpc.close,
    };
  });
}
