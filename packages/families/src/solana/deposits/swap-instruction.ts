import { bytesOf, type Hex } from "@causeway/domain";
import type { PlainInstruction } from "../payments/plain-instruction.ts";

/** Reads the swaps of Jupiter's program, version 6, from its published IDL. Pure. */

/** What a swap instruction can take and must bring, and between which accounts. Keys in base58. */
export interface SwapCall {
  /** Signs for the input. */
  readonly user: string | undefined;
  readonly source: string | undefined;
  readonly destination: string | undefined;
  readonly destinationMint: string | undefined;
  /** Receives the output in place of `destination`. Undefined: nothing does. */
  readonly diverted: string | undefined;
  /** Receives a fee of the output. Undefined: nothing does. */
  readonly feeAccount: string | undefined;
  /** Base units. The program takes no more. */
  readonly maxInput: bigint;
  /** Base units. The program fails if the swap brings less. */
  readonly minOutput: bigint;
}

/** Where an instruction has what; numbers are places in its list of accounts. */
interface Layout {
  readonly kind: "exactIn" | "exactOut";
  readonly user: number;
  readonly source: number;
  readonly destination: number;
  readonly destinationMint: number;
  readonly diverted?: number;
  readonly feeAccount: number;
}

const OWN = { user: 1, source: 2, destination: 3, diverted: 4 };
const SHARED = { user: 2, source: 3, destination: 6, destinationMint: 8, feeAccount: 9 };

/** By the first 8 bytes of the data. */
const LAYOUTS: Readonly<Record<Hex, Layout>> = {
  // route
  "0xe517cb977ae3ad2a": { kind: "exactIn", ...OWN, destinationMint: 5, feeAccount: 6 },
  // shared_accounts_route
  "0xc1209b3341d69c81": { kind: "exactIn", ...SHARED },
  // exact_out_route
  "0xd033ef977b2bed5c": { kind: "exactOut", ...OWN, destinationMint: 6, feeAccount: 7 },
  // shared_accounts_exact_out_route
  "0xb0d169a89a7d453e": { kind: "exactOut", ...SHARED },
};

/** After the route, whose length varies: two amounts, the slippage in bps and the fee in bps. */
const TAIL_BYTES = 8 + 8 + 2 + 1;
const BPS = 10_000n;

/** Undefined: the instruction is of another kind, or names amounts that no swap can have. */
export function readSwap({ programId, keys, data }: PlainInstruction): SwapCall | undefined {
  const layout = LAYOUTS[data.slice(0, 18) as Hex];
  const bytes = bytesOf(data);
  if (layout === undefined || bytes.length < 8 + TAIL_BYTES) return undefined;
  const tail = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - TAIL_BYTES);
  const [fixed, quoted] = [tail.getBigUint64(0, true), tail.getBigUint64(8, true)];
  const slippage = BigInt(tail.getUint16(16, true));
  if (slippage > BPS) return undefined;
  const account = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : keys[at]?.pubkey;
  // The program's own address stands for an account that is left out.
  const optional = (at: number | undefined): string | undefined =>
    account(at) === programId ? undefined : account(at);
  return {
    user: account(layout.user),
    source: account(layout.source),
    destination: account(layout.destination),
    destinationMint: account(layout.destinationMint),
    diverted: optional(layout.diverted),
    feeAccount: optional(layout.feeAccount),
    ...(layout.kind === "exactIn"
      ? { maxInput: fixed, minOutput: (quoted * (BPS - slippage)) / BPS }
      : { maxInput: (quoted * (BPS + slippage) + BPS - 1n) / BPS, minOutput: fixed }),
  };
}
