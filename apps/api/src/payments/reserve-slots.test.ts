import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { Attempt, Slot, SlotPlan } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { PaymentKind } from "./legs/leg-kind.ts";
import type { Refused, WantedPayment } from "./wanted-payment.port.ts";
import { reserve } from "./reserve-slots.ts";

const NATIVE: Address = `0x${"00".repeat(20)}`;
const funds = {
  chainId: 7,
  sender: NATIVE,
  native: NATIVE,
  balance: () => ({ amount: 100n, blockNumber: 1n }),
};
const REFUSED: Refused = { kind: "refused", why: "not now" };

function aWantedPayment(id: string): WantedPayment {
  const plan: SlotPlan = {
    chainId: funds.chainId,
    sender: funds.sender,
    leg: { kind: "claim", id, requestId: undefined },
    call: { to: NATIVE, data: "0x", value: 0n },
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 0n,
    outflow: { currency: NATIVE, amount: 1n },
    cancelAfterMs: 0,
  };
  return { plan };
}

/** A database with these slots; `written` lists what legs wrote in commits that were not rolled back. */
function aDatabase(...paid: readonly string[]) {
  const written: string[] = [];
  const notes: string[] = [];
  const lanes = {
    lockLane: async () => undefined,
    reserved: async () => ({ amount: 0n, gasWei: 0n }),
    reserve: async (plans: readonly SlotPlan[]) =>
      plans
        .filter(({ leg }) => !paid.includes(leg.id))
        .map(
          (plan, nonce) =>
            ({ ...plan, nonce, id: plan.leg.id, attempts: [] as Attempt[] }) as unknown as Slot,
        ),
    addAttempts: async (signed: ReadonlyArray<{ readonly slotId: string }>) => {
      for (const { slotId } of signed) notes.push(`bytes ${slotId}`);
      return new Set(signed.map(({ slotId }) => slotId));
    },
  };
  const claim = { state: "paying", chainId: funds.chainId, recipient: NATIVE, currency: NATIVE, amount: 1n };
  const tx = {
    lanes,
    requests: { lockAll: async () => new Map() },
    claims: { lock: async () => claim },
    policy: { standing: async () => ({ pauses: [], heldIds: new Set() }) },
  } as unknown as Tx;
  const uow = {
    run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      notes.length = 0;
      const result = await work(tx);
      written.push(...notes);
      return result;
    },
  };
  const services = {
    uow,
    clock: { nowMs: () => 1 },
    signer: { address: NATIVE },
    chains: { get: () => undefined },
  } as unknown as WorkerServices;
  return { services, written, note: (what: string) => notes.push(what) };
}

const idOf = ({ plan: { leg } }: WantedPayment): string => leg.id;

/** Legs that write before the lane is locked, and may refuse then or once they have a slot. */
function aKind(
  { note }: ReturnType<typeof aDatabase>,
  refuses: { readonly due?: string; readonly reserved?: string } = {},
): PaymentKind {
  const kind: Pick<PaymentKind, "lock" | "reserved"> = {
    lock: async (_, __, wanted) =>
      wanted.map((payment) => {
        note(`due ${idOf(payment)}`);
        return idOf(payment) === refuses.due ? REFUSED : "due";
      }),
    async reserved(_, __, reserved) {
      for (const { wanted } of reserved) note(`taken ${idOf(wanted)}`);
      return reserved.some(({ wanted }) => idOf(wanted) === refuses.reserved) ? REFUSED : undefined;
    },
  };
  return kind as PaymentKind;
}

test("commits the writes of a leg that refuses before it has a slot, and rolls back those of a leg that refuses after", async () => {
  const database = aDatabase();
  const early = await reserve(database.services, { funds }, aKind(database, { due: "0x01" }), [
    aWantedPayment("0x01"),
  ]);
  expect([early, database.written]).toEqual([[REFUSED], ["due 0x01"]]);
  const late = await reserve(database.services, { funds }, aKind(database, { reserved: "0x02" }), [
    aWantedPayment("0x02"),
  ]);
  expect([late, database.written]).toEqual([[REFUSED], ["due 0x01"]]);
});

test("rolls back the writes of a leg if another slot already pays it", async () => {
  const database = aDatabase("0x01");
  const outcomes = await reserve(database.services, { funds }, aKind(database), [aWantedPayment("0x01")]);
  expect([outcomes, database.written]).toEqual([[{ kind: "moved" }], []]);
});

test("does not roll back the other payments of a batch if one refuses its slot", async () => {
  const database = aDatabase();
  const wanted = (["0x01", "0x02", "0x03"] as const).map(aWantedPayment);
  const outcomes = await reserve(database.services, { funds }, aKind(database, { reserved: "0x02" }), wanted);
  const kinds = outcomes.map((outcome) => (outcome instanceof Error ? outcome.message : outcome.kind));
  expect(kinds).toEqual(["reserved", "refused", "reserved"]);
  expect(database.written).toEqual(["due 0x01", "taken 0x01", "due 0x03", "taken 0x03"]);
});

const attempt = { n: 0, kind: "pay", raw: "0x02" } as unknown as Attempt;
const signNew = async (slots: readonly Slot[]): Promise<ReadonlyMap<string, Attempt>> =>
  new Map(slots.map(({ id }) => [id, attempt]));

test("stores the bytes of a new slot in its commit, or neither", async () => {
  const database = aDatabase();
  const [outcome] = await reserve(database.services, { funds, signNew }, aKind(database), [
    aWantedPayment("0x01"),
  ]);
  expect(outcome).toMatchObject({ kind: "reserved", slot: { nonce: 0, attempts: [attempt] } });
  expect(database.written).toEqual(["due 0x01", "taken 0x01", "bytes 0x01"]);
  const late = aKind(database, { reserved: "0x02" });
  expect(await reserve(database.services, { funds, signNew }, late, [aWantedPayment("0x02")])).toEqual([
    REFUSED,
  ]);
  expect(database.written).toEqual(["due 0x01", "taken 0x01", "bytes 0x01"]);
});

test("leaves a slot that the payer did not sign, and a large batch, to be signed after the commit", async () => {
  const database = aDatabase();
  const partly = async (slots: readonly Slot[]) => await signNew(slots.filter(({ id }) => id !== "0x02"));
  const two = (["0x01", "0x02"] as const).map(aWantedPayment);
  const outcomes = await reserve(database.services, { funds, signNew: partly }, aKind(database), two);
  expect(outcomes).toMatchObject([{ slot: { attempts: [attempt] } }, { slot: { attempts: [] } }]);
  const many = Array.from({ length: 21 }, (_, n) => aWantedPayment(`0x1${n}`));
  await reserve(database.services, { funds, signNew }, aKind(database), many);
  expect(database.written.filter((what) => what.startsWith("bytes"))).toEqual(["bytes 0x01"]);
});
