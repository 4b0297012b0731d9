import { toHex } from "@causeway/domain";
import { decodeWith } from "../../address-codec.ts";
import { solanaCodec } from "../address-codec.ts";
import type { AccountFact } from "./transaction-facts.ts";
import { LOOKUP_TABLE_PROGRAM } from "./programs.ts";

const HEADER_BYTES = 56;
const NEVER = 0xffff_ffff_ffff_ffffn;

/**
 * The addresses of a lookup table, in base58. Undefined if the account is not a lookup table, or the table is
 * being closed. Pure.
 */
export function readLookupTable(account: AccountFact | undefined): readonly string[] | undefined {
  if (account === undefined || account.owner !== LOOKUP_TABLE_PROGRAM) return undefined;
  const { data } = account;
  if (data.length < HEADER_BYTES || (data.length - HEADER_BYTES) % 32 !== 0) return undefined;
  const header = new DataView(data.buffer, data.byteOffset);
  if (header.getUint32(0, true) !== 1 || header.getBigUint64(4, true) !== NEVER) return undefined;
  return Array.from({ length: (data.length - HEADER_BYTES) / 32 }, (_, entry) => {
    const offset = HEADER_BYTES + 32 * entry;
    return decodeWith(solanaCodec, toHex(data.subarray(offset, offset + 32)));
  });
}
