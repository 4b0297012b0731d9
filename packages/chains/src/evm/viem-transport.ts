import { custom, RpcRequestError, type CustomTransport } from "viem";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Adapts a transport for a viem client, for calls that are not performance-critical. Never retries: the
 * caller does.
 */
export function viemTransport(transport: RpcTransport): CustomTransport {
  return custom(
    {
      request: async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
        try {
          return await transport.request(method, params ?? []);
        } catch (error) {
          if (!(error instanceof NodeRefusal)) throw error;
          // viem detects reverts and nonce faults by searching for this class.
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
