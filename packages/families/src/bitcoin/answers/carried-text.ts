import type { Hex32 } from "@causeway/domain";
import type { BitcoinOutput } from "./raw-transaction.ts";
import { decodedScript } from "../address-codec/scripts.ts";

/** Text in an OP_RETURN output. */
export interface CarriedText {
  /** Position of the output. */
  readonly vout: number;
  readonly text: string;
}

/** A value with this prefix is padding or a number, not an id. */
const NO_ID = /^0x0{32}/;

/**
 * `fatal`: throws for bytes that are not UTF-8. `ignoreBOM` keeps a byte-order mark in the text, so that a
 * text has only one encoding.
 */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The texts in a transaction's unspendable outputs: `OP_RETURN` and one push of UTF-8, however its length is
 * encoded.
 */
export function carriedTexts(outputs: readonly BitcoinOutput[]): readonly CarriedText[] {
  return outputs.flatMap(({ script }, vout) => {
    // Only OP_RETURN scripts need to be decoded.
    if (!script.startsWith("6a")) return [];
    const [, data, ...extra] = decodedScript(script) ?? [];
    if (!(data instanceof Uint8Array) || extra.length > 0) return [];
    const text = decodedText(data);
    return text === undefined ? [] : [{ vout, text }];
  });
}

/**
 * The id at the start of a text: `0x` and 64 lowercase hex digits, followed by the end of the text or a `|`.
 * Zero is not an id, nor is anything that starts with sixteen zero bytes.
 */
export function idIn({ text }: CarriedText): Hex32 | undefined {
  const [, id] = /^(0x[0-9a-f]{64})(?:\||$)/.exec(text) ?? [];
  return id === undefined || NO_ID.test(id) ? undefined : (id as Hex32);
}

/** The depositor that a text names, `|depositor=…|`, not validated. */
export function depositorIn({ text }: CarriedText): string | undefined {
  return /\|depositor=([^|]*)(?:\||$)/.exec(text)?.[1];
}

function decodedText(data: Uint8Array): string | undefined {
  try {
    return utf8.decode(data);
  } catch {
    return undefined;
  }
}
