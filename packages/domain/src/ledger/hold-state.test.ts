import fc from "fast-check";
import { expect, test } from "vitest";
import { decideHold, holdActs, holdStates } from "./hold-state.ts";
import type { HoldAct } from "./hold-state.ts";

test("a hold debits when it becomes permanent, credits when it stops being permanent, and moves nothing else", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...holdActs), { maxLength: 40 }), (acts: HoldAct[]) => {
      let state: (typeof holdStates)[number] = "active";
      let debits = 0;
      for (const act of acts) {
        const decision = decideHold(state, act);
        if (decision.kind !== "applied") continue;
        if (decision.moves === "debit") debits++;
        if (decision.moves === "credit") debits--;
        state = decision.state;
        expect(debits).toBe(state === "permanent" ? 1 : 0);
      }
    }),
  );
});

test("applies the transitions of a hold's life cycle", () => {
  const outcomes = holdStates.map((state) =>
    holdActs.map((act) => {
      const decision = decideHold(state, act);
      return decision.kind === "applied" ? decision.state : decision.kind;
    }),
  );
  expect(Object.fromEntries(holdStates.map((state, index) => [state, outcomes[index]]))).toEqual({
    // release, reinstate, makePermanent, return
    active: ["released", "already", "permanent", "rejected"],
    released: ["already", "active", "rejected", "already"],
    permanent: ["rejected", "rejected", "already", "released"],
  });
});

test("repeating an applied action changes nothing", () => {
  for (const state of holdStates)
    for (const act of holdActs) {
      const decision = decideHold(state, act);
      if (decision.kind === "applied") expect(decideHold(decision.state, act).kind).toBe("already");
    }
});
