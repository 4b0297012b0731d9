import type { Address, Hex } from "@causeway/domain";

// Small hand-written contracts that emit false events or report false balances.

/** The parts of an event, as an emitting contract needs them. */
export interface RawLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

const word = (value: bigint | Hex): string =>
  (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(64, "0");
const push = (value: bigint | Hex): string => `7f${word(value)}`;

/** An address or number as a field of an event. */
export function eventWord(value: Address | bigint): Hex {
  return `0x${word(value)}`;
}

/** Code that emits the logs and then continues. */
function emitCode(logs: readonly RawLog[]): string {
  return logs
    .map(({ topics, data }) => {
      const words = data.slice(2).match(/.{64}/g) ?? [];
      const stored = words
        .map((dataWord, index) => `${push(`0x${dataWord}`)}${push(BigInt(index * 32))}52`)
        .join("");
      const pushed = topics.toReversed().map(push).join("");
      return `${stored}${pushed}${push(BigInt(words.length * 32))}${push(0n)}${(0xa0 + topics.length).toString(16)}`;
    })
    .join("");
}

/** Code that creates a contract with this code. */
function creationCode(code: string): Hex {
  const length = (code.length / 2).toString(16).padStart(4, "0");
  return `0x61${length}600e60003961${length}6000f3${code}`;
}

const returnWord = (value: bigint): string => `${push(value)}60005260206000f3`;

/** Code that emits the logs on any call. */
export function emitterCode(logs: readonly RawLog[]): Hex {
  return creationCode(`${emitCode(logs)}00`);
}

/** Code that self-destructs on any call. `heir` gets its balance. */
export function selfDestructCode(heir: Address): Hex {
  return creationCode(`73${heir.slice(2)}ff`);
}

/**
 * Code of a token whose `balanceOf` grows by `amount` for every holder with each `transferFrom`. Only the
 * first `transferFrom` emits the given logs.
 */
export function pretendingToken(amount: bigint, logs: readonly RawLog[]): Hex {
  const hexOffset = (offset: number): string => offset.toString(16).padStart(4, "0");
  // Long calldata is a `transferFrom`: jumps to the second part. Otherwise returns `amount` times the number
  // of `transferFrom` calls.
  const jumpIfTransfer = `6063361161${"????"}57`;
  const returnBalance = `600054${push(amount)}0260005260206000f3`;
  const transferOffset = (jumpIfTransfer.length + returnBalance.length) / 2;
  // Counts the calls, and emits only on the first one.
  const count = `5b600054600101806000556001141561${"!!!!"}57`;
  const emitted = emitCode(logs);
  const end = transferOffset + (count.length + emitted.length) / 2;
  return creationCode(
    `${jumpIfTransfer.replace("????", hexOffset(transferOffset))}${returnBalance}${count.replace("!!!!", hexOffset(end))}${emitted}5b${returnWord(1n)}`,
  );
}
