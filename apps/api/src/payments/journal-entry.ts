import type { Attempt, Slot } from "../db/records.port.ts";
import type { PaymentAttempt, JournalEntry } from "./payment-journal.port.ts";

/** The entry of a payment whose attempt is about to be broadcast. */
export function entryOf({ slot, attempt }: PaymentAttempt, atMs: number): JournalEntry {
  const { nonce, chainId, sender, leg, call, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = slot;
  const { outflow, delivers, cancelAfterMs } = slot;
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas };
  return {
    plan: {
      chainId,
      sender,
      leg,
      call,
      ...fees,
      outflow,
      cancelAfterMs,
      ...(delivers !== undefined && { delivers }),
    },
    nonce,
    attempts: [...slot.attempts.filter(({ n }) => n !== attempt.n), attempt].map(withoutBroadcasts),
    atMs,
  };
}

/** Whether the attempt was never broadcast, so the journal may not have it. */
export function isUnentered({ attempt }: PaymentAttempt): boolean {
  return attempt.firstBroadcastAtMs === undefined;
}

/** The attempt without what changes after signing. */
function withoutBroadcasts({
  n,
  kind,
  raw,
  txHash,
  maxFeePerGas,
  maxPriorityFeePerGas,
  createdAtMs,
}: Attempt): Attempt {
  return {
    n,
    kind,
    raw,
    txHash,
    maxFeePerGas,
    maxPriorityFeePerGas,
    createdAtMs,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  };
}

/** The identity of a leg's payment in the journal; it differs for two payments with the same nonce. */
export function legTag({ leg }: Pick<Slot, "leg">): string {
  return `${leg.kind} ${leg.id}`;
}

const BIGINT = /^-?\d+n$/;

/** An entry as text; bigints are written as `5n`. */
export function writeEntry(entry: JournalEntry): string {
  return JSON.stringify(entry, (_key, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

/** Reads what {@link writeEntry} wrote. @throws SyntaxError if it is not JSON */
export function readEntry(text: string): JournalEntry {
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === "string" && BIGINT.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as JournalEntry;
}
