import fc from "fast-check";
import { expect, test } from "vitest";
import { publicStatus } from "./public-status.ts";
import { failReasons, refundFailReasons } from "./reasons.ts";
import { decide, frontStates, isUntouched, quotedState, requestStates } from "./state.ts";
import type { Effect, RequestEvent, RequestState } from "./state.ts";

const depositId = fc.constantFrom("1", "2", "3");
const reason = fc.constantFrom(...failReasons);
const verdict = fc.oneof(
  fc.constant({ kind: "match" } as const),
  fc.record({ kind: fc.constant("mismatch" as const), reason, byUser: fc.boolean() }),
);
const anEvent: fc.Arbitrary<RequestEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("depositSeen" as const),
      depositId,
      verdict,
      confirmed: fc.boolean(),
      late: fc.boolean(),
      replaces: fc.boolean(),
    }),
  },
  fc.record({
    kind: fc.constantFrom(
      "depositConfirmed" as const,
      "depositUnconfirmed" as const,
      "depositRemoved" as const,
    ),
    depositId,
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "fillPlanned" as const,
        "fillBroadcast" as const,
        "fillMined" as const,
        "fillUnmined" as const,
        "fillFinal" as const,
      ),
    }),
  },
  fc.record({
    kind: fc.constant("fillDead" as const),
    reason,
    isDepositOrphaned: fc.boolean(),
    shouldReplan: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("fillImpossible" as const), reason }),
  fc.record({
    kind: fc.constantFrom(
      "executionAccepted" as const,
      "executionMined" as const,
      "executionUnmined" as const,
      "executionFinal" as const,
      "fastFillAccepted" as const,
      "frontOverdue" as const,
    ),
  }),
  fc.record({ kind: fc.constant("executionReverted" as const), reason }),
  fc.record({ kind: fc.constant("executionDead" as const), reason }),
  fc.record({ kind: fc.constantFrom("sendMined" as const, "sendUnmined" as const, "sendFinal" as const) }),
  fc.record({
    kind: fc.constantFrom(
      "refundMined" as const,
      "refundUnmined" as const,
      "refundFinal" as const,
      "refundReleased" as const,
    ),
    depositId,
  }),
  fc.record({
    kind: fc.constant("refundImpossible" as const),
    depositId,
    reason: fc.constantFrom(...refundFailReasons),
  }),
  fc.constant({ kind: "deadlinePassed" } as const),
);
const aState: fc.Arbitrary<RequestState> = fc.record({
  name: fc.constantFrom(...requestStates),
  kind: fc.constantFrom("bridge" as const, "send" as const, "swap" as const, "call" as const),
  front: fc.constantFrom(...frontStates),
  depositId: fc.option(depositId, { nil: undefined }),
  failReason: fc.option(reason, { nil: undefined }),
  refundFailReason: fc.option(fc.constantFrom(...refundFailReasons), { nil: undefined }),
  final: fc.boolean(),
});
/** One event of each kind and shape, for two deposits. */
const everyEvent: readonly RequestEvent[] = [
  ...["1", "2"].flatMap((id): RequestEvent[] => [
    ...[true, false].flatMap((confirmed) =>
      [true, false].map((late): RequestEvent => ({
        kind: "depositSeen",
        depositId: id,
        verdict: { kind: "match" },
        confirmed,
        late,
      })),
    ),
    ...[true, false].map((byUser): RequestEvent => ({
      kind: "depositSeen",
      depositId: id,
      verdict: { kind: "mismatch", reason: "DEPOSITED_AMOUNT_MISMATCH", byUser },
      confirmed: true,
      late: false,
    })),
    { kind: "depositConfirmed", depositId: id },
    { kind: "depositUnconfirmed", depositId: id },
    { kind: "depositRemoved", depositId: id },
    { kind: "refundMined", depositId: id },
    { kind: "refundUnmined", depositId: id },
    { kind: "refundFinal", depositId: id },
    { kind: "refundImpossible", depositId: id, reason: "MANUAL_REFUND_REQUIRED" },
    { kind: "refundReleased", depositId: id },
  ]),
  { kind: "fillPlanned" },
  { kind: "fillBroadcast" },
  { kind: "fillMined" },
  { kind: "fillUnmined" },
  { kind: "fillFinal" },
  { kind: "fillDead", reason: "TRANSACTION_REVERTED", isDepositOrphaned: false },
  { kind: "fillDead", reason: "TRANSACTION_REVERTED", isDepositOrphaned: false, shouldReplan: true },
  { kind: "fillImpossible", reason: "SLIPPAGE" },
  { kind: "executionAccepted" },
  { kind: "executionMined" },
  { kind: "executionReverted", reason: "EXECUTION_REVERTED" },
  { kind: "executionUnmined" },
  { kind: "executionFinal" },
  { kind: "executionDead", reason: "TRANSACTION_NOT_INCLUDED" },
  { kind: "fastFillAccepted" },
  { kind: "frontOverdue" },
  { kind: "sendMined" },
  { kind: "sendUnmined" },
  { kind: "sendFinal" },
  { kind: "deadlinePassed" },
];

/**
 * Random events of one request of either kind, starting from its quote: mostly those that its state expects,
 * sometimes any.
 */
const someEvents = fc.record({
  kind: fc.constantFrom(
    "bridge" as const,
    "bridge" as const,
    "bridge" as const,
    "send" as const,
    "swap" as const,
    "call" as const,
  ),
  turns: fc.array(fc.record({ pick: fc.nat(), stray: fc.option(anEvent, { nil: undefined, freq: 3 }) }), {
    maxLength: 30,
  }),
});
type EventSequence = typeof someEvents extends fc.Arbitrary<infer T> ? T : never;

interface Step {
  readonly before: RequestState;
  readonly event: RequestEvent;
  readonly after: RequestState;
  readonly effects: readonly Effect[];
}

function stateAfter(state: RequestState, event: RequestEvent): RequestState {
  const decision = decide(state, event);
  return decision.kind === "applied" ? decision.next : decision.state;
}

function replay({ kind, turns }: EventSequence): Step[] {
  let state = quotedState(kind);
  return turns.map(({ pick, stray }) => {
    const before = state;
    const applicable = everyEvent.filter((candidate) => decide(before, candidate).kind === "applied");
    const event = stray ?? applicable[pick % applicable.length] ?? everyEvent[0];
    if (event === undefined) throw new Error("the event is missing");
    const decision = decide(before, event);
    state = stateAfter(before, event);
    return { before, event, after: state, effects: decision.kind === "applied" ? decision.effects : [] };
  });
}

/** Every transition from every reachable state, each once. */
function everyStep(): Step[] {
  const steps: Step[] = [];
  const seen = new Set<string>();
  const open = [quotedState("bridge"), quotedState("send"), quotedState("swap"), quotedState("call")];
  for (let before = open.pop(); before !== undefined; before = open.pop()) {
    for (const event of everyEvent) {
      const decision = decide(before, event);
      const after = stateAfter(before, event);
      steps.push({ before, event, after, effects: decision.kind === "applied" ? decision.effects : [] });
      const key = JSON.stringify(after);
      if (!seen.has(key)) open.push(after);
      seen.add(key);
    }
  }
  return steps;
}

test("every state can be reached", () => {
  const reached = new Set(everyStep().map(({ before }) => before.name));
  expect([...reached].toSorted()).toEqual([...requestStates].toSorted());
});

test("every event is handled in every state, and one that is not applied changes nothing", () => {
  fc.assert(
    fc.property(aState, anEvent, (state, event) => {
      const decision = decide(state, event);
      if (decision.kind !== "applied") expect(decision.state).toBe(state);
      else expect(requestStates).toContain(decision.next.name);
    }),
    { numRuns: 2_000 },
  );
});

test("requests a fill only when a request becomes fillable: at most once per accepted deposit and dead fill", () => {
  fc.assert(
    fc.property(someEvents, (sequence) => {
      let owed = 0;
      for (const { before, event, after, effects } of replay(sequence)) {
        const fills = effects.filter((effect) => effect.kind === "fill").length;
        expect(fills).toBe(before.name !== "fillable" && after.name === "fillable" ? 1 : 0);
        owed += fills;
        // No fill is owed when its deposit was orphaned, when the previous fill is known to be dead, or when
        // a fill without a deposit was given up.
        const isUndone = ["depositRemoved", "fillDead", "fillImpossible"].includes(event.kind);
        if (isUndone && before.name !== "quoted" && after.name === "quoted") owed = 0;
        if (after.name === "refunding") owed = 0;
        if (event.kind === "fillDead" && after.name === "fillable") owed = fills;
        // Its deposit is unconfirmed again; the job finds nothing to fill until it has them.
        if (event.kind === "depositUnconfirmed" && after.name === "deposited") owed = 0;
        expect(owed).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("never refunds a request whose recipient was paid: no refund of the request starts from filled", () => {
  for (const { before, event, after, effects } of everyStep()) {
    if (before.name !== "filled") continue;
    expect(after.name, event.kind).not.toBe("refunding");
    for (const effect of effects)
      if (effect.kind === "refundDeposit") expect(effect.depositId, event.kind).not.toBe(before.depositId);
  }
});

test("refunds the accepted deposit only after giving up its fill, and never while a fill may still be mined", () => {
  for (const { before, event, effects } of everyStep())
    for (const effect of effects)
      if (effect.kind === "refundDeposit" && effect.depositId === before.depositId)
        expect(event.kind).toBe(
          before.name === "fillable" || before.name === "deposited" ? "fillImpossible" : "fillDead",
        );
});

test("a final outcome never changes", () => {
  for (const { before, event, after } of everyStep())
    // If a reorg drops a deposit that could not be refunded, or the operator releases its refund, "failed"
    // would no longer be true.
    if (
      before.final &&
      !(before.name === "failed" && (event.kind === "depositRemoved" || event.kind === "refundReleased"))
    )
      // A guarantee is settled with the app, and changes nothing for the recipient.
      expect(before.front === "none" ? after : outcomeOf(after), event.kind).toEqual(
        before.front === "none" ? before : outcomeOf(before),
      );
});

function outcomeOf({ name, final, failReason, refundFailReason }: RequestState): Partial<RequestState> {
  return { name, final, failReason, refundFailReason };
}

test("rejects events that would undo a final outcome, or end a paid request differently", () => {
  const filled = { ...quotedState("bridge"), name: "filled", depositId: "1" } as const;
  const refunded = { ...filled, name: "refunded", final: true } as const;
  expect(decide(filled, { kind: "fillDead", reason: "UNKNOWN", isDepositOrphaned: false }).kind).toBe(
    "rejected",
  );
  expect(decide({ ...filled, final: true }, { kind: "fillUnmined" }).kind).toBe("rejected");
  expect(decide(refunded, { kind: "refundUnmined", depositId: "1" }).kind).toBe("rejected");
  const sent = { ...quotedState("send"), name: "filled", final: true } as const;
  expect(decide(sent, { kind: "sendUnmined" }).kind).toBe("rejected");
});

test("a duplicate event changes the state only once and requests no second fill", () => {
  fc.assert(
    fc.property(someEvents, anEvent, (sequence, event) => {
      const state = replay(sequence).at(-1)?.after ?? quotedState(sequence.kind);
      const once = stateAfter(state, event);
      const second = decide(once, event);
      expect(second.kind === "applied" ? second.next : second.state).toEqual(once);
      // Other refunds are identified by the deposit's row: requesting one twice is harmless.
      if (second.kind === "applied")
        expect(second.effects.every((effect) => effect.kind === "refundDeposit")).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("duplicates of past events are already done", () => {
  const seen = {
    kind: "depositSeen",
    depositId: "1",
    verdict: { kind: "match" },
    confirmed: false,
    late: false,
  } as const;
  const events: RequestEvent[] = [
    seen,
    { kind: "depositConfirmed", depositId: "1" },
    { kind: "fillPlanned" },
    { kind: "fillBroadcast" },
    { kind: "fillMined" },
    { kind: "fillFinal" },
  ];
  let state = quotedState("bridge");
  const past: RequestEvent[] = [];
  for (const event of events) {
    expect(decide(state, event).kind, event.kind).toBe("applied");
    state = stateAfter(state, event);
    past.push(event);
    for (const old of past)
      expect(decide(state, old).kind, `${old.kind} after ${event.kind}`).toBe("already");
  }
  expect(state).toMatchObject({ name: "filled", final: true });
});

test("after a deposit was seen, no failure is visible before a refund", () => {
  fc.assert(
    fc.property(someEvents, (sequence) => {
      let visible: string[] = [];
      for (const { before, after } of replay(sequence)) {
        // An expired request never had money: only a later deposit reopens it.
        if (before.name === "expired" && after.name !== "expired") visible = [];
        // A reorg dropped the deposit that could not be refunded: there is no money either.
        if (before.name === "failed" && after.name === "quoted") visible = [];
        // The operator released a refund that was not possible automatically.
        if (before.name === "failed" && after.name === "refunding") visible = [];
        visible.push(publicStatus(after));
        if (publicStatus(after) === "refund") expect(visible).not.toContain("failure");
      }
    }),
    { numRuns: 1_000 },
  );
  // Only failed ends without money can be left: an expired request, a call whose block was orphaned, an
  // orphaned deposit, and, by the operator's release, a refund that was not possible automatically.
  for (const { before, event, after } of everyStep())
    if (publicStatus(before) === "failure" && publicStatus(after) !== "failure")
      expect(
        before.name === "expired" ||
          (before.kind === "call" && !before.final) ||
          event.kind === "depositRemoved" ||
          event.kind === "refundReleased",
        event.kind,
      ).toBe(true);
});

test("a third party's mismatching deposit never changes the request", () => {
  const strangers = fc.record({
    kind: fc.constant("depositSeen" as const),
    depositId: fc.constant("666"),
    verdict: fc.record({ kind: fc.constant("mismatch" as const), reason, byUser: fc.constant(false) }),
    confirmed: fc.boolean(),
    late: fc.boolean(),
  });
  fc.assert(
    fc.property(someEvents, strangers, (sequence, event) => {
      const state = replay(sequence).at(-1)?.after ?? quotedState(sequence.kind);
      const decision = decide(state, event);
      if (decision.kind !== "applied") throw new Error("the deposit must be refunded");
      expect(decision.next).toEqual(state);
      expect(decision.effects).toHaveLength(1);
      expect(decision.effects[0]).toMatchObject({ kind: "refundDeposit", depositId: "666" });
    }),
    { numRuns: 1_000 },
  );
});

test("every deposit is accepted or refunded, in every state", () => {
  fc.assert(
    fc.property(someEvents, anEvent, (sequence, event) => {
      if (event.kind !== "depositSeen") return;
      const state = replay(sequence).at(-1)?.after ?? quotedState(sequence.kind);
      if (state.depositId === event.depositId) return;
      const decision = decide(state, event);
      const effects = decision.kind === "applied" ? decision.effects : [];
      const answers = effects.filter(({ kind }) => kind === "acceptDeposit" || kind === "refundDeposit");
      expect(answers).toHaveLength(1);
      expect(answers[0]).toMatchObject({ depositId: event.depositId });
    }),
    { numRuns: 1_000 },
  );
});

test.each(["send", "swap"] as const)(
  "an orphaned payment of a %s leaves the request open for another one",
  (kind) => {
    let state = stateAfter(quotedState(kind), { kind: "sendMined" });
    expect(state.name).toBe("filled");
    state = stateAfter(state, { kind: "sendUnmined" });
    expect(state).toMatchObject({ name: "quoted", final: false });
    state = stateAfter(stateAfter(state, { kind: "sendMined" }), { kind: "sendFinal" });
    expect(state).toMatchObject({ name: "filled", final: true });
    expect(decide(state, { kind: "fillDead", reason: "UNKNOWN", isDepositOrphaned: false }).kind).not.toBe(
      "applied",
    );
  },
);

test("plans a fill again after prices moved while its deposit exists, and otherwise gives up", () => {
  const submitted = { ...quotedState("bridge"), name: "submitted", depositId: "1" } as const;
  const dead = {
    kind: "fillDead",
    reason: "TRANSACTION_REVERTED",
    isDepositOrphaned: false,
    shouldReplan: true,
  } as const;
  expect(decide(submitted, dead)).toMatchObject({
    next: { name: "fillable", depositId: "1", failReason: undefined },
    effects: [{ kind: "fill" }],
  });
  expect(stateAfter(submitted, { ...dead, isDepositOrphaned: true })).toMatchObject({ name: "quoted" });
  expect(stateAfter({ ...submitted, front: "held" }, dead)).toMatchObject({ name: "refunding" });
  expect(stateAfter(submitted, { ...dead, shouldReplan: false })).toMatchObject({ name: "refunding" });
});

test("never executes, fast fills or fills a payment that the user makes, and refunds a deposit that names it", () => {
  for (const kind of ["send", "swap"] as const) {
    const quoted = quotedState(kind);
    expect(decide(quoted, { kind: "executionAccepted" }).kind).toBe("rejected");
    expect(decide(quoted, { kind: "fastFillAccepted" }).kind).toBe("already");
    expect(decide(quoted, matching)).toMatchObject({
      next: quoted,
      effects: [{ kind: "refundDeposit", depositId: "1", reason: "ORPHANED_DEPOSIT_REFUND" }],
    });
  }
});

test("a bridge is never fulfilled by the events of a send, nor a send by those of a bridge", () => {
  expect(decide(quotedState("bridge"), { kind: "sendMined" }).kind).toBe("rejected");
  expect(decide(quotedState("send"), { kind: "fillMined" }).kind).toBe("rejected");
});

const matching = {
  kind: "depositSeen",
  depositId: "1",
  verdict: { kind: "match" },
  confirmed: true,
  late: false,
} as const;

function after(kind: RequestState["kind"], ...events: readonly RequestEvent[]): RequestState {
  return events.reduce(stateAfter, quotedState(kind));
}

function effectsOf(state: RequestState, event: RequestEvent): readonly Effect[] {
  const decision = decide(state, event);
  return decision.kind === "applied" ? decision.effects : [];
}

test("a fast fill starts immediately, and its hold is released when both deposit and fill are final", () => {
  const fronted = after("bridge", { kind: "fastFillAccepted" });
  expect(fronted).toMatchObject({ name: "fillable", front: "held", depositId: undefined });
  expect(effectsOf(quotedState("bridge"), { kind: "fastFillAccepted" })).toEqual([{ kind: "fill" }]);
  const events: RequestEvent[] = [{ kind: "fillPlanned" }, { kind: "fillBroadcast" }, { kind: "fillMined" }];
  let state = fronted;
  for (const event of events) {
    state = stateAfter(state, event);
    const seen = stateAfter(state, { ...matching, confirmed: false });
    expect(seen).toMatchObject({ name: state.name, front: "held", depositId: "1" });
    const confirmed = decide(seen, { kind: "depositConfirmed", depositId: "1" });
    expect(confirmed).toMatchObject({ next: { front: "covered" }, effects: [] });
    expect(effectsOf(state, matching)).toEqual([{ kind: "acceptDeposit", depositId: "1" }]);
  }
  expect(state.name).toBe("filled");
  expect(effectsOf(stateAfter(state, matching), { kind: "fillFinal" })).toEqual([{ kind: "releaseHold" }]);
  const final = stateAfter(state, { kind: "fillFinal" });
  const seen = stateAfter(final, { ...matching, confirmed: false });
  expect(effectsOf(seen, { kind: "depositConfirmed", depositId: "1" })).toEqual([{ kind: "releaseHold" }]);
  expect(effectsOf(final, matching)).toEqual([
    { kind: "acceptDeposit", depositId: "1" },
    { kind: "releaseHold" },
  ]);
});

test("the service may still send a guaranteed deposit without affecting the fill, but not once it arrived", () => {
  const events: RequestEvent[] = [
    { kind: "fastFillAccepted" },
    { kind: "fillPlanned" },
    { kind: "fillBroadcast" },
    { kind: "fillMined" },
  ];
  let state = quotedState("bridge");
  for (const event of events) {
    state = stateAfter(state, event);
    expect(decide(state, { kind: "executionAccepted" })).toEqual({
      kind: "applied",
      next: state,
      effects: [],
    });
    const seen = stateAfter(state, matching);
    expect(decide(seen, { kind: "executionAccepted" }).kind).toBe("already");
  }
});

test("a deposit that waits for confirmations can be fast filled, and covers the fill when it has them", () => {
  const state = after("bridge", { ...matching, confirmed: false }, { kind: "fastFillAccepted" });
  expect(state).toMatchObject({ name: "fillable", front: "held", depositId: "1" });
  expect(decide(state, { kind: "fastFillAccepted" }).kind).toBe("already");
  expect(decide(state, { kind: "depositConfirmed", depositId: "1" })).toMatchObject({
    next: { front: "covered" },
    effects: [],
  });
});

test("an app pays once for a deposit that never arrives, when the fill is final, and gets it back if the deposit arrives after all", () => {
  const filled = after(
    "bridge",
    { kind: "fastFillAccepted" },
    { kind: "fillPlanned" },
    { kind: "fillBroadcast" },
    { kind: "fillMined" },
  );
  expect(decide(filled, { kind: "frontOverdue" }).kind).toBe("already");
  const final = stateAfter(filled, { kind: "fillFinal" });
  expect(effectsOf(final, { kind: "frontOverdue" })).toEqual([{ kind: "debitHold" }]);
  const isDebited = stateAfter(final, { kind: "frontOverdue" });
  expect(decide(isDebited, { kind: "frontOverdue" }).kind).toBe("already");
  expect(effectsOf(isDebited, { ...matching, late: true })).toEqual([
    { kind: "acceptDeposit", depositId: "1" },
    { kind: "returnHold" },
  ]);
});

test("an orphaned deposit reinstates the hold for a filled request", () => {
  const covered = after("bridge", { kind: "fastFillAccepted" }, { kind: "fillPlanned" }, matching);
  expect(covered.front).toBe("covered");
  expect(effectsOf(covered, { kind: "depositRemoved", depositId: "1" }), "the hold still stands").toEqual([]);
  const final = [{ kind: "fillMined" }, { kind: "fillFinal" }] as const;
  expect(effectsOf(final.reduce(stateAfter, covered), { kind: "depositRemoved", depositId: "1" })).toEqual([
    { kind: "reinstateHold" },
  ]);
  expect(stateAfter(covered, { kind: "depositRemoved", depositId: "1" })).toMatchObject({
    name: "filling",
    front: "held",
    depositId: undefined,
  });
});

test("releases the hold on every path that ends without a payment", () => {
  for (const { before, event, after: next, effects } of everyStep()) {
    if (before.front === "none") continue;
    const released = effects.some(({ kind }) => kind === "releaseHold");
    if (next.front === "none") expect(released, event.kind).toBe(true);
    if (next.front === "held") expect(released, event.kind).toBe(false);
  }
});

test("holds are placed, released, reinstated, debited and returned in alternation, never twice in a row", () => {
  fc.assert(
    fc.property(someEvents, (sequence) => {
      let isHeld = false;
      let isDebited = false;
      for (const { before, after: next, effects } of replay(sequence)) {
        if (before.front === "none" && next.front === "held") isHeld = true;
        for (const { kind } of effects) {
          if (kind === "releaseHold" || kind === "debitHold") {
            expect(isHeld).toBe(true);
            isHeld = false;
            isDebited = kind === "debitHold";
          }
          if (kind === "returnHold") {
            expect(isDebited).toBe(true);
            isDebited = false;
          }
          if (kind === "reinstateHold") {
            expect([isHeld, isDebited]).toEqual([false, false]);
            isHeld = true;
          }
        }
        expect(isHeld).toBe(next.front === "held" || (next.front === "covered" && !next.final));
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a call ends with its transaction, and an orphaned block reopens it", () => {
  const accepted = after("call", { kind: "executionAccepted" });
  expect(accepted.name).toBe("accepted");
  const done = stateAfter(accepted, { kind: "executionMined" });
  expect(done).toMatchObject({ name: "filled", final: false });
  expect(stateAfter(done, { kind: "executionUnmined" })).toEqual(accepted);
  const reverted = stateAfter(accepted, { kind: "executionReverted", reason: "EXECUTION_REVERTED" });
  expect(reverted).toMatchObject({ name: "failed", failReason: "EXECUTION_REVERTED", final: false });
  expect(stateAfter(reverted, { kind: "executionUnmined" })).toEqual(accepted);
  const dead = stateAfter(reverted, { kind: "executionDead", reason: "TRANSACTION_REVERTED" });
  expect(dead).toMatchObject({ name: "failed", failReason: "EXECUTION_REVERTED", final: true });
  expect(decide(stateAfter(done, { kind: "executionFinal" }), { kind: "executionUnmined" }).kind).toBe(
    "rejected",
  );
});

test("a bridge whose origin transaction the service sends shows depositing, then continues with its deposit", () => {
  const accepted = after("bridge", { kind: "executionAccepted" });
  expect(publicStatus(accepted)).toBe("waiting");
  const mined = stateAfter(accepted, { kind: "executionMined" });
  expect(publicStatus(mined)).toBe("depositing");
  expect(stateAfter(mined, matching)).toMatchObject({ name: "fillable", depositId: "1" });
  // The watcher may read the deposit before the lane is reconciled.
  expect(decide(stateAfter(accepted, matching), { kind: "executionMined" }).kind).toBe("already");
  expect(stateAfter(accepted, { kind: "executionReverted", reason: "EXECUTION_REVERTED" })).toMatchObject({
    name: "expired",
    failReason: "EXECUTION_REVERTED",
  });
});

test("fills a deposit in time even if the service's own transaction failed: someone else made it", () => {
  const accepted = after("bridge", { kind: "executionAccepted" });
  for (const failed of [
    { kind: "executionReverted", reason: "TRANSACTION_REVERTED" },
    { kind: "executionDead", reason: "EXECUTION_REVERTED" },
  ] as const) {
    const closed = stateAfter(accepted, failed);
    expect(closed.name).toBe("expired");
    const seen = { ...matching, confirmed: false } as const;
    const deposited = stateAfter(closed, seen);
    expect(deposited).toMatchObject({ name: "deposited", depositId: "1", failReason: undefined });
    expect(stateAfter(closed, { ...seen, confirmed: true })).toMatchObject({ name: "fillable" });
    // The order of the deposit and the failure does not matter.
    expect(stateAfter(stateAfter(accepted, seen), failed)).toEqual(deposited);
    expect(stateAfter(deposited, { kind: "executionDead", reason: "TRANSACTION_REVERTED" })).toEqual(
      deposited,
    );
    expect(stateAfter(closed, { ...seen, late: true })).toMatchObject({ name: "refunding" });
  }
  const outOfTime = stateAfter(quotedState("bridge"), { kind: "deadlinePassed" });
  expect(stateAfter(outOfTime, matching)).toMatchObject({ name: "refunding" });
});

test("a deposit that a reorg moves into a younger block needs its confirmations again, unless the fill was planned", () => {
  const unconfirmed = { kind: "depositUnconfirmed", depositId: "1" } as const;
  const fillable = { ...quotedState("bridge"), name: "fillable", depositId: "1" } as const;
  const moved = decide(fillable, unconfirmed);
  expect(moved).toMatchObject({ next: { name: "deposited", depositId: "1" }, effects: [] });
  expect(
    effectsOf(moved.kind === "applied" ? moved.next : fillable, { kind: "depositConfirmed", depositId: "1" }),
  ).toEqual([{ kind: "fill" }]);
  for (const name of ["deposited", "filling", "submitted", "filled", "refunding"] as const)
    expect(decide({ ...fillable, name }, unconfirmed).kind, name).toBe("already");
  expect(decide(fillable, { ...unconfirmed, depositId: "2" }).kind).toBe("already");
  // The app guarantees it until it has its confirmations.
  expect(decide({ ...fillable, name: "filled", front: "covered" }, unconfirmed)).toMatchObject({
    next: { name: "filled", front: "held", depositId: "1" },
    effects: [],
  });
  expect(decide({ ...fillable, name: "filled", final: true, front: "covered" }, unconfirmed)).toMatchObject({
    next: { name: "filled", front: "held", depositId: "1" },
    effects: [{ kind: "reinstateHold" }],
  });
});

test("only a matching deposit replaces one that was orphaned under the fill", () => {
  const replacing = { ...matching, depositId: "2", late: true, replaces: true } as const;
  for (const name of ["filling", "submitted", "filled"] as const) {
    const state = { ...quotedState("bridge"), name, depositId: "1" } as const;
    expect(decide(state, replacing)).toMatchObject({
      next: { ...state, depositId: "2" },
      effects: [{ kind: "acceptDeposit", depositId: "2" }],
    });
    for (const change of [
      { replaces: false },
      { beyondLead: true },
      { verdict: { kind: "mismatch", reason: "DEPOSITED_AMOUNT_MISMATCH", byUser: true } },
    ] as const)
      expect(effectsOf(state, { ...replacing, ...change })).toMatchObject([{ kind: "refundDeposit" }]);
  }
});

test("a released refund is in progress again, and only that of the request's own deposit changes the request", () => {
  const failed: RequestState = {
    ...quotedState("bridge"),
    name: "failed",
    depositId: "1",
    failReason: "DEPOSIT_UNATTESTABLE",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
    final: true,
  };
  const released = { kind: "refundReleased", depositId: "1" } as const;
  expect(decide(failed, released)).toEqual({
    kind: "applied",
    next: { ...failed, name: "refunding", refundFailReason: undefined, final: false },
    effects: [],
  });
  expect(decide(failed, { ...released, depositId: "2" }).kind).toBe("already");
  for (const name of ["filled", "refunded", "refunding", "quoted"] as const)
    expect(decide({ ...failed, name }, released).kind).toBe("already");
});

test("a request is untouched only in its initial state", () => {
  const changes: readonly Partial<RequestState>[] = [
    ...requestStates.filter((name) => name !== "quoted").map((name) => ({ name })),
    ...frontStates.filter((front) => front !== "none").map((front) => ({ front })),
    { depositId: "1" },
    { failReason: "SLIPPAGE" },
    { refundFailReason: "AMOUNT_TOO_LOW_TO_REFUND" },
    { final: true },
  ];
  for (const kind of ["bridge", "call", "send", "swap"] as const) {
    expect(isUntouched(quotedState(kind))).toBe(true);
    for (const change of changes) expect(isUntouched({ ...quotedState(kind), ...change })).toBe(false);
  }
});
