import type { RequestEnd } from "../../chains/chains.port.ts";
import { perKind } from "../../http/request-end.ts";
import { evmSide } from "./evm-side.ts";
import type { Side } from "./side.ts";
import { transferSide } from "./transfer-side.ts";

const known = new WeakMap<RequestEnd, Side>();

/** Made once per chain. */
export function sideOf(end: RequestEnd): Side {
  const side = known.get(end) ?? perKind(end, { evm: evmSide, nonEvm: transferSide });
  known.set(end, side);
  return side;
}
