import type { RequestEnd } from "../../chains/chains.port.ts";
import { perKind } from "../../http/request-end.ts";
import { evmSide } from "./evm-side.ts";
import type { Side } from "./side.ts";
import { transferSide } from "./transfer-side.ts";

const sides = new WeakMap<RequestEnd, Side>();

/** The side of a chain; created once per chain. */
export function sideOf(end: RequestEnd): Side {
  const side = sides.get(end) ?? perKind(end, { evm: evmSide, nonEvm: transferSide });
  sides.set(end, side);
  return side;
}
