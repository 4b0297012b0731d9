import type { Arguments } from "./requests.ts";

export const SLOTS = 16_384;

/** The slot of a key, or of its hash tag if it has one, as in the Redis cluster specification. */
export function keySlot(key: Buffer | string): number {
  const bytes = Buffer.from(key);
  const open = bytes.indexOf("{");
  const close = open < 0 ? -1 : bytes.indexOf("}", open + 1);
  return crc16(close > open + 1 ? bytes.subarray(open + 1, close) : bytes) % SLOTS;
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

const WITHOUT_KEYS = new Set(
  "auth client cluster command config discard exec hello info multi ping psubscribe publish quit readonly script select subscribe time unsubscribe".split(
    " ",
  ),
);
const ALL_ARE_KEYS = new Set("del exists mget rename rpoplpush touch unlink".split(" "));
/** The last argument is a timeout. */
const ALL_BUT_LAST = new Set("bzpopmin bzpopmax blpop brpop".split(" "));

/** The keys of a command. */
export function keysOf(args: Arguments): readonly Buffer[] {
  const [first, ...rest] = args;
  const name = String(first).toLowerCase();
  if (WITHOUT_KEYS.has(name)) return [];
  if (name === "eval" || name === "evalsha") return rest.slice(2, 2 + Number(rest[1]));
  if (name === "xread") {
    const names = rest.slice(rest.findIndex((arg) => String(arg).toLowerCase() === "streams") + 1);
    return names.slice(0, names.length / 2);
  }
  if (ALL_ARE_KEYS.has(name)) return rest;
  if (ALL_BUT_LAST.has(name)) return rest.slice(0, -1);
  return rest.slice(0, 1);
}
