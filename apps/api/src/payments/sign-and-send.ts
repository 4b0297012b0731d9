import type { ToSend } from "./note-sent.ts";
import type { Payer, Signed, ToSign } from "./payers/payer.ts";

/**
 * Signs and sends for slots of one lane: all bytes are committed at once, then broadcast at once. A payer
 * that signs in sequence sends each as soon as its bytes are committed.
 * @param ready already signed bytes
 * @returns the results of signing, and the errors that prevented a broadcast
 */
export async function signAndSend(
  payer: Payer,
  toSign: readonly ToSign[],
  ready: readonly ToSend[] = [],
): Promise<{ readonly signed: Signed; readonly errors: ReadonlyMap<string, Error> }> {
  const batches = payer.signsOneByOne === true && toSign.length > 1 ? toSign.map((slot) => [slot]) : [toSign];
  const results = await Promise.all(
    batches.map(async (batch, index) => {
      const signed: Signed = batch.length === 0 ? new Map() : await payer.sign(batch);
      const errors = new Map<string, Error>();
      const toSend = index === 0 ? [...ready] : [];
      for (const { slot } of batch) {
        const attempt = signed.get(slot.id);
        if (attempt instanceof Error) errors.set(slot.id, attempt);
        else if (typeof attempt === "object") toSend.push({ slot, attempt });
      }
      const failed = toSend.length === 0 ? [] : await payer.send(toSend);
      return { signed, errors: new Map([...errors, ...failed]) };
    }),
  );
  return {
    signed: new Map(results.flatMap(({ signed }) => [...signed])),
    errors: new Map(results.flatMap(({ errors }) => [...errors])),
  };
}
