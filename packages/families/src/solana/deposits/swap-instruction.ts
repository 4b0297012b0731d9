import { bytesOf, type Hex } from "@causeway/domain";
import type { PlainInstruction } from "../payments/plain-instruction.ts";
import { readPlan } from "./route-plan.ts";

/** Reads the swaps of Jupiter's program, version 6, from its published IDL. Pure. */

/** Maximum input and minimum output of a swap instruction, and its accounts. Keys in base58. */
export interface SwapCall {
  /** The signer that spends the input. */
  readonly user: string | undefined;
  readonly source: string | undefined;
  readonly destination: string | undefined;
  readonly destinationMint: string | undefined;
  /** The account that receives the output instead of `destination`, if set. */
  readonly diverted: string | undefined;
  /** The account that receives a fee out of the output, if set. */
  readonly feeAccount: string | undefined;
  /** Base units: the program spends at most this. */
  readonly maxInput: bigint;
  /** Base units. The program fails if the swap yields less. */
  readonly minOutput: bigint;
}

/** Layout of an instruction; numbers are indexes in its list of accounts. */
interface Layout {
  readonly kind: "exactIn" | "exactOut";
  /** Offset of the route plan in the data. */
  readonly plan: number;
  readonly user: number;
  readonly source: number;
  readonly destination: number;
  readonly destinationMint: number;
  readonly diverted?: number;
  readonly feeAccount: number;
}

const OWN = { plan: 8, user: 1, source: 2, destination: 3, diverted: 4 };
/** An id precedes the plan. */
const SHARED = { plan: 9, user: 2, source: 3, destination: 6, destinationMint: 8, feeAccount: 9 };

/** Layouts by the first 8 bytes of the data. */
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

/** After the plan: two amounts, the slippage in bps and the fee in bps. Nothing may follow. */
const NUMBER_BYTES = 8 + 8 + 2 + 1;
const BPS = 10_000n;
const UNKNOWN = { refusal: "an instruction that is not a swap with known amounts" };

/** Reads a swap instruction. `refusal`: it is of another kind, or its amounts are uncertain. */
export function readSwap(instruction: PlainInstruction): SwapCall | { readonly refusal: string } {
  const { programId, keys, data } = instruction;
  const layout = LAYOUTS[data.slice(0, 18) as Hex];
  if (layout === undefined) return UNKNOWN;
  const numbers = readNumbers(data, layout);
  if ("refusal" in numbers) return numbers;
  const { fixed, quoted, slippage } = numbers;
  if (slippage > BPS) return UNKNOWN;
  const account = (index: number | undefined): string | undefined =>
    index === undefined ? undefined : keys[index]?.pubkey;
  // The program's own address marks an omitted account.
  const optional = (index: number | undefined): string | undefined =>
    account(index) === programId ? undefined : account(index);
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

interface Numbers {
  readonly fixed: bigint;
  readonly quoted: bigint;
  /** bps */
  readonly slippage: bigint;
}

function readNumbers(data: Hex, { plan }: Layout): Numbers | { readonly refusal: string } {
  const { buffer, byteOffset, byteLength } = bytesOf(data);
  const view = new DataView(buffer, byteOffset, byteLength);
  try {
    const end = readPlan(view, plan);
    if (typeof end !== "number") return end;
    const surplus = byteLength - end - NUMBER_BYTES;
    if (surplus < 0) return UNKNOWN;
    if (surplus > 0) return { refusal: `a swap with ${surplus} bytes after its amounts` };
    return {
      fixed: view.getBigUint64(end, true),
      quoted: view.getBigUint64(end + 8, true),
      slippage: BigInt(view.getUint16(end + 16, true)),
    };
  } catch (error) {
    if (error instanceof RangeError) return UNKNOWN;
    throw error;
  }
}
