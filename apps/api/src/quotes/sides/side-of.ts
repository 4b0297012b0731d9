import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { perKind } from "../../http/connected-chain.ts";
import { evmSide } from "./evm-side.ts";
import type { Side } from "./side.ts";
import { transferSide } from "./transfer-side.ts";

const sides = new WeakMap<AnyConnectedChain, Side>();

/** The side of a chain; created once per chain. */
export function sideOf(connected: AnyConnectedChain): Side {
  const side = sides.get(connected) ?? perKind(connected, { evm: evmSide, nonEvm: transferSide });
  sides.set(connected, side);
  return side;
}
