import type { Address, Hex } from "@causeway/domain";
import { bytesOf } from "@causeway/families/evm";
import { simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Time limit for code that anyone may have chosen, in milliseconds. Such calls are not batched with others:
 * code that burns gas until the node gives up must not delay a balance or a gas price.
 */
const STRANGERS_DEADLINE_MS = 5_000;

/**
 * The answer of the code at `to` to `data` on the latest state; `0x` where there is none.
 *
 * @returns undefined when it reverts
 * @throws RpcFault when the node did not answer
 */
export async function askContract(
  transport: Pick<RpcTransport, "request">,
  to: Address,
  data: Hex,
): Promise<Hex | undefined> {
  const method = "eth_call";
  try {
    const options = { deadlineMs: STRANGERS_DEADLINE_MS };
    return bytesOf(await transport.request(method, [{ to, data }, "latest"], options), method);
  } catch (error) {
    // A node that refuses for a reason of its own proves nothing about the contract.
    if (error instanceof NodeRefusal && simulationOutcomeOf(error)?.kind === "reverts") return undefined;
    throw error;
  }
}
