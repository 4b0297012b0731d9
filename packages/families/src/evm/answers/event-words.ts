import type { Address, Hex } from "@causeway/domain";

/** The 32-byte words of event data; undefined when the data is not a whole number of words. */
export function splitWords(data: Hex): readonly bigint[] | undefined {
  if ((data.length - 2) % 64 !== 0) return undefined;
  const words: bigint[] = [];
  for (let offset = 2; offset < data.length; offset += 64)
    words.push(BigInt(`0x${data.slice(offset, offset + 64)}`));
  return words;
}

/** An address in a word; undefined when the 12 bytes before it are not zero. */
export function addressOfWord(word: bigint | undefined): Address | undefined {
  if (word === undefined || word >> 160n !== 0n) return undefined;
  return `0x${word.toString(16).padStart(40, "0")}`;
}

/** An address in an indexed field; undefined when it is missing or has nonzero padding. */
export function addressOfTopic(topic: Hex | undefined): Address | undefined {
  return topic === undefined ? undefined : addressOfWord(BigInt(topic));
}
