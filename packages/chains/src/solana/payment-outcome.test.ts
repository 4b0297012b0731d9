import { generateKeyPair, getAddressFromPublicKey, getBase58Decoder } from "@solana/kit";
import { bytesOf } from "@causeway/domain";
import { expect, test } from "vitest";
import type { LostAttempt } from "../non-evm-connection.ts";
import { createOutcomes } from "./payment-outcome.ts";
import { lamportTransferInstruction } from "./payment-instructions.ts";
import { signPayment } from "./sign-payment.ts";

// An honest node whose chain advances between requests.

/** Height of the block whose hash the bytes use. Slots and heights are equal here. */
const HASH_HEIGHT = 1_000;
/** The last block that can contain them. */
const LAST = HASH_HEIGHT + 150;
const FINALITY_LAG = 32;

const pair = await generateKeyPair();
const payer = await getAddressFromPublicKey(pair.publicKey);
const blockhash = "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2";

interface World {
  tip: number;
  /** Undefined: no block contains them. */
  includedIn?: number;
  /** Called before each answer, with its number. */
  onCall?: (call: number) => void;
  /** The node lists transactions in final blocks late. */
  listsLate?: true;
  /** The first slot that the node still has. */
  firstSlot?: number;
}

/** Bytes with the last height, and the first slot, that one node claims. */
async function createOutcome(world: World, lastHeight: number, slotOfBytes = HASH_HEIGHT) {
  const attempt = await signPayment(
    { address: payer, pair },
    [lamportTransferInstruction(payer, payer, 1n)],
    {
      blockhash,
      lastHeight: BigInt(lastHeight),
      slot: BigInt(slotOfBytes),
    },
  );
  const signature = getBase58Decoder().decode(bytesOf(attempt.txId));
  let calls = 0;
  const tipOf = (view: string): number => (view === "processed" ? world.tip : world.tip - FINALITY_LAG);
  const isIn = (view: string): boolean => {
    const { includedIn, firstSlot: first = 0 } = world;
    return includedIn !== undefined && includedIn >= first && includedIn <= tipOf(view);
  };
  const answer = async <T>(read: () => T): Promise<T> => {
    world.onCall?.(calls++);
    return await Promise.resolve(read());
  };
  const slot = BigInt(world.includedIn ?? 0);
  const outcome = createOutcomes({
    payer,
    reads: {
      status: async () =>
        await answer(() =>
          isIn("processed") ? { slot, isFinal: isIn("finalized"), failed: false } : undefined,
        ),
      // One second per slot.
      block: async (number) => await answer(() => ({ number, hash: "0x01", timestamp: number })),
      isBlockhashValid: async (_, view) =>
        await answer(() => tipOf(view) >= HASH_HEIGHT && tipOf(view) <= LAST),
      finalHeight: async () =>
        await answer(() => ({ slot: BigInt(tipOf("finalized")), height: BigInt(tipOf("finalized")) })),
      firstSlot: async () => await answer(() => BigInt(world.firstSlot ?? 0)),
    },
    rpc: {
      transaction: async () =>
        await answer(() => ({ kind: "final", value: { slot, failed: false } as never }) as const),
      signaturesOf: async () =>
        await answer(() =>
          isIn("finalized") && world.listsLate === undefined ? [{ signature, slot, failed: false }] : [],
        ),
    },
  });
  return async (lost?: LostAttempt) =>
    (await outcome({ ...attempt, ...(lost !== undefined && { lost }) })).kind;
}

test.each([0, 1, 2, 3, 4, 5])(
  "bytes that the last possible block includes before answer %i are not dead, although their last height is too low",
  async (index) => {
    const world: World = { tip: LAST - 1, includedIn: LAST };
    world.onCall = (call) => void (call === index && (world.tip = LAST + 1));
    const outcome = await createOutcome(world, LAST - 100);
    expect(await outcome()).not.toBe("dead");
    delete world.onCall;
    world.tip = LAST + 500;
    expect(await outcome()).toBe("final");
  },
);

test("new bytes are not dead before their blockhash is in a final block, however low their last height is", async () => {
  const world: World = { tip: HASH_HEIGHT + 20 };
  expect(await (await createOutcome(world, 1))()).toBe("unseen");
});

test("bytes are dead only if the node still does not show them after it listed no transaction with them", async () => {
  const world: World = { tip: LAST + 1, listsLate: true };
  const outcome = await createOutcome(world, LAST);
  world.tip = LAST + 200;
  expect(await outcome()).toBe("dead");
  // The status appears after the first request.
  const late: World = { tip: LAST + 200, listsLate: true };
  late.onCall = (call) => void (call === 5 && (late.includedIn = LAST));
  expect(await (await createOutcome(late, LAST))()).toBe("final");
});

test("lost bytes that the node may have pruned are not dead, whatever first slot they claim", async () => {
  const pruned: World = { tip: 5_000, includedIn: LAST, firstSlot: 3_000 };
  const outcome = await createOutcome(pruned, LAST, 4_000);
  expect(await outcome(), "bytes of a stored row").toBe("dead");
  const lost = { payment: undefined as never, notBeforeMs: LAST * 1_000 };
  await expect(outcome(lost)).rejects.toMatchObject({ kind: "pruned" });
  // Its history is longer than the possible clock difference.
  expect(await outcome({ ...lost, notBeforeMs: 3_700_000 })).toBe("dead");
  expect(await (await createOutcome({ ...pruned, firstSlot: 0 }, LAST, 4_000))(lost)).toBe("final");
});
