import { custom, RpcRequestError, type CustomTransport } from "viem";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * The same transport under a viem client, for the calls that are not hot.
 *
 * Retrying is left to the caller, as everywhere else here.
 */
export function viemTransport(transport: RpcTransport): CustomTransport {
  return custom(
    {
      request: async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
        try {
          return await transport.request(method, params ?? []);
        } catch (error) {
          if (!(error instanceof NodeRefusal)) throw error;
          // viem finds reverts and nonce faults by walking to this class.
          throw new RpcRequestError({
            body: { method },
            error: { code: error.nodeCode, message: error.nodeText, data: error.nodeData },
            url: "the node",
          });
        }
      },
    },
    { retryCount: 0 },
  );
}
