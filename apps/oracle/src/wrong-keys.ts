import { addressBlock } from "@causeway/service-kit";
import { AttestationError } from "./ports/attestation-error.ts";

/** Wrong keys that one address may send per minute. */
const MAX_WRONG_KEYS = 30;
const WINDOW_MS = 60_000;
/** Maximum tracked addresses; the one with the oldest window is dropped first. */
const MAX_ADDRESSES = 10_000;

/** Limits how fast one address can guess keys. */
export interface WrongKeys {
  /** @throws AttestationError rate_limited for an address that has sent too many wrong keys */
  check(address: string): void;
  count(address: string): void;
}

/** @param now monotonic clock, ms */
export function limitWrongKeys(now: () => number): WrongKeys {
  const windows = new Map<string, { readonly endsMs: number; wrong: number }>();
  return {
    check(address) {
      const window = windows.get(addressBlock(address));
      if (window === undefined || window.wrong < MAX_WRONG_KEYS) return;
      const remainingMs = window.endsMs - now();
      if (remainingMs <= 0) return;
      const retryAfterSeconds = Math.ceil(remainingMs / 1000);
      throw new AttestationError(
        "rate_limited",
        `too many wrong keys from this address (more than ${MAX_WRONG_KEYS} per minute); try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
    },
    count(address) {
      const block = addressBlock(address);
      const window = windows.get(block);
      if (window !== undefined && window.endsMs > now()) {
        window.wrong++;
        return;
      }
      windows.delete(block);
      windows.set(block, { endsMs: now() + WINDOW_MS, wrong: 1 });
      const oldest = windows.size > MAX_ADDRESSES ? windows.keys().next().value : undefined;
      if (oldest !== undefined) windows.delete(oldest);
    },
  };
}
