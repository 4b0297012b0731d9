import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex, RequestId } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someHash, someTerms } from "../../../../../test/support/terms.ts";
import type { RequestRecord, SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { admit } from "./admit-payments.ts";
import { HUB_CALLS, PAYOUT_CALLS } from "./signed-calls.ts";
import type { Pause } from "./policy.port.ts";

const [solver, executor, operator] = [someAddress(), someAddress(), someAddress()];
const [recipient, router] = [someAddress(), someAddress()];
const call = { to: someAddress(), data: "0x12345678" as Hex, value: 0n };
const terms = someTerms();
const requestId = terms.requestId as RequestId;
const PAUSED: Pause = { scope: { kind: "all" }, pausedBy: "ann", reason: "drill", sinceMs: 1 };

const requests = new Map([
  [requestId, { terms, state: { name: "fillable", kind: "bridge", depositId: undefined } } as RequestRecord],
]);
const services = {
  clock: { nowMs: () => 0 },
  signer: { address: solver },
  executor: { address: executor },
  depositAddressOperator: { address: operator },
  chains: {
    get: () => ({ chain: { contracts: { router, approvalProxy: someAddress() } } }),
    profile: () => undefined,
    currency: () => undefined,
  },
} as unknown as WorkerServices;

/** A transaction in which each leg is due as its plan pays it, with these pauses. */
function aTx(pauses: readonly Pause[]) {
  const held: string[] = [];
  const tx = {
    policy: {
      standing: async () => ({ pauses, heldIds: new Set() }),
      hold: async ({ refusal }: { refusal: { rule: string } }) => held.push(refusal.rule) > 0,
    },
    requests: { note: async () => undefined },
    events: { happened: () => undefined, alarm: () => undefined },
    deposits: {
      lock: async () => ({
        chainId: 2,
        currency: NATIVE_CURRENCY,
        amount: 5n,
        disposition: "refund",
        refundState: "none",
        depositor: recipient,
      }),
    },
    claims: {
      lock: async () => ({ chainId: 2, recipient, currency: NATIVE_CURRENCY, amount: 5n, state: "paying" }),
    },
    executions: { lock: async () => ({ chainId: 2, call, settled: false }) },
  };
  return { tx: tx as unknown as Tx, held };
}

function aPlan(kind: string, sender: Address, planCall: SlotPlan["call"]): SlotPlan {
  const ofRequest = kind === "fill" || kind === "execution";
  return {
    chainId: 2,
    sender,
    leg: { kind, id: ofRequest ? requestId : someHash(), requestId: ofRequest ? requestId : undefined },
    call: planCall,
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 0n,
    outflow: { currency: NATIVE_CURRENCY, amount: 0n },
    cancelAfterMs: 0,
  };
}

const nativePayment = { to: recipient, data: "0x" as Hex, value: 5n };
const transfer =
  `0xa9059cbb${terms.recipient.slice(2).padStart(64, "0")}${99n.toString(16).padStart(64, "0")}` as const;
const fill = {
  to: terms.destination.currency,
  data: `${transfer}${terms.orderId.slice(2)}` as Hex,
  value: 0n,
};
// `executeMultiple` of the hub's oracle.
const hubCall = { ...call, data: HUB_CALLS[0] ?? "0x" };

test.for([
  ["fill", solver, fill, true],
  ["execution", executor, call, true],
  ["claim", solver, nativePayment, true],
  ["refund", solver, nativePayment, false],
  ["hub", solver, hubCall, false],
] as const)("a pause holds a new %s: %s", async ([kind, sender, sent, waits]) => {
  const plan = aPlan(kind, sender, sent);
  const unpaused = await admit(services, aTx([]).tx, [plan], requests);
  expect([unpaused.admitted.length, unpaused.held.size]).toEqual([1, 0]);
  const { tx, held } = aTx([PAUSED]);
  const paused = await admit(services, tx, [plan], requests);
  expect([paused.admitted.length, held]).toEqual(waits ? [0, ["paused"]] : [1, []]);
});

test("holds the fills of a paused route, and fills from a paused chain", async () => {
  const plan = aPlan("fill", solver, fill);
  const heldBy = async (scope: Pause["scope"]) =>
    (await admit(services, aTx([{ ...PAUSED, scope }]).tx, [plan], requests)).held.size;
  expect(await heldBy({ kind: "route", originChainId: 1, destinationChainId: 2 })).toBe(1);
  expect(await heldBy({ kind: "route", originChainId: 2, destinationChainId: 1 })).toBe(0);
  expect(await heldBy({ kind: "chain", chainId: 1 })).toBe(1);
  expect(await heldBy({ kind: "chain", chainId: 3 })).toBe(0);
});

test("names the pause, or the found and the allowed value, as the reason of a held payment", async () => {
  const whyHeld = async (pauses: readonly Pause[], sender: Address) => {
    const plan = aPlan("claim", sender, nativePayment);
    return (await admit(services, aTx(pauses).tx, [plan], requests)).held.get(plan.leg.id)?.why;
  };
  expect(await whyHeld([PAUSED], solver)).toBe("scope all is paused: drill");
  expect(await whyHeld([], executor)).toBe("key: found executor, allowed: solver");
});

test("holds a payment from the wrong kind of key, or of a kind without facts", async () => {
  for (const [kind, sender] of [
    ["claim", executor],
    ["claim", someAddress()],
    ["execution", solver],
    ["gift", solver],
  ] as const) {
    const sent = kind === "execution" ? call : nativePayment;
    expect((await admit(services, aTx([]).tx, [aPlan(kind, sender, sent)], requests)).admitted, kind).toEqual(
      [],
    );
  }
});

test("admits calls of the allocator and of the hub only to their configured contracts", async () => {
  const payout = aPlan("payout", solver, { ...call, data: PAYOUT_CALLS[0] ?? "0x" });
  const hub = aPlan("hub", solver, hubCall);
  const admittedWith = async (changes: Partial<WorkerServices>, plan: SlotPlan) =>
    (await admit({ ...services, ...changes }, aTx([]).tx, [plan], requests)).admitted.length;
  const addresses = [call.to];
  expect(await admittedWith({}, payout)).toBe(0);
  expect(await admittedWith({ payoutContracts: [someAddress()] }, payout)).toBe(0);
  expect(await admittedWith({ payoutContracts: addresses }, payout)).toBe(1);
  expect(await admittedWith({ hubContracts: { chainId: 2, addresses: [] } }, hub)).toBe(0);
  expect(await admittedWith({ hubContracts: { chainId: 3, addresses } }, hub)).toBe(0);
  expect(await admittedWith({ hubContracts: { chainId: 2, addresses } }, hub)).toBe(1);
});
