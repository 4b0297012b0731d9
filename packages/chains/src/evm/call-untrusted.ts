import type { Address, Hex } from "@causeway/domain";
import { bytesOf } from "@causeway/families/evm";
import { simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Timeout for calls of untrusted code, in milliseconds. Such calls are not batched with others: code that
 * burns gas until the node gives up must not delay a balance or a gas price.
 */
const UNTRUSTED_CALL_DEADLINE_MS = 5_000;

/**
 * Calls `to` with `data` on the latest state.
 *
 * @returns the return data; `0x` without code; undefined if it reverts
 * @throws RpcFault if the node does not answer
 */
export async function callUntrusted(
  transport: Pick<RpcTransport, "request">,
  to: Address,
  data: Hex,
): Promise<Hex | undefined> {
  const method = "eth_call";
  try {
    const options = { deadlineMs: UNTRUSTED_CALL_DEADLINE_MS };
    return bytesOf(await transport.request(method, [{ to, data }, "latest"], options), method);
  } catch (error) {
    // A node that refuses for its own reasons proves nothing about the contract.
    if (error instanceof NodeRefusal && simulationOutcomeOf(error)?.kind === "reverts") return undefined;
    throw error;
  }
}
