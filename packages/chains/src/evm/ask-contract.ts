import type { Address, Hex } from "@causeway/domain";
import { bytesOf } from "@causeway/families/evm";
import { simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Milliseconds that code of anybody's choice may take. Unlike that of other calls, so that these travel
 * apart: code that burns gas until the node gives up keeps no balance and no gas price waiting.
 */
const STRANGERS_DEADLINE_MS = 5_000;

/**
 * What the code at `to` answers to `data` on the latest state; `0x` where there is none.
 *
 * @returns undefined when it reverts
 * @throws RpcFault when the node did not say
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
    // A node that refuses for a reason of its own has said nothing of the contract.
    if (error instanceof NodeRefusal && simulationOutcomeOf(error)?.kind === "reverts") return undefined;
    throw error;
  }
}
