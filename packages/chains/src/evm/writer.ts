import { keccakOf } from "@causeway/domain";
import { hashOf, type ChainWriter } from "@causeway/families/evm";
import { broadcastOutcomeOf } from "./rpc-errors.ts";
import { garbage, NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** Sends signed bytes and reads the node's answer to them. Sending the same bytes again is always safe. */
export function createChainWriter(transport: RpcTransport): ChainWriter {
  return {
    broadcast: async (raw) => {
      const method = "eth_sendRawTransaction";
      const expected = keccakOf(raw);
      try {
        const hash = hashOf(await transport.request(method, [raw]), method);
        if (hash !== expected) throw garbage(method, "the node accepted a different transaction");
        return { kind: "accepted" };
      } catch (error) {
        const outcome = error instanceof NodeRefusal ? broadcastOutcomeOf(error) : undefined;
        if (outcome === undefined) throw error;
        return outcome;
      }
    },
  };
}
