/**
 * `active`: the app guarantees the deposit. `released`: the deposit arrived, or nothing was paid.
 * `permanent`: the deposit did not arrive and the app paid.
 */
export const holdStates = ["active", "released", "permanent"] as const;
export type HoldState = (typeof holdStates)[number];

/**
 * `reinstate`: the deposit that released the hold was reorged out. `return`: a deposit arrived after the app
 * had paid.
 */
export const holdActs = ["release", "reinstate", "makePermanent", "return"] as const;
export type HoldAct = (typeof holdActs)[number];

/** The result of an act on a hold: a new state, already done, or rejected. */
export type HoldDecision =
  | { readonly kind: "applied"; readonly state: HoldState; readonly moves: "nothing" | "debit" | "credit" }
  | { readonly kind: "already" }
  | { readonly kind: "rejected" };

const already: HoldDecision = { kind: "already" };
const rejected: HoldDecision = { kind: "rejected" };

const table: Readonly<Record<HoldState, Readonly<Record<HoldAct, HoldDecision>>>> = {
  active: {
    release: { kind: "applied", state: "released", moves: "nothing" },
    reinstate: already,
    makePermanent: { kind: "applied", state: "permanent", moves: "debit" },
    return: rejected,
  },
  released: {
    release: already,
    reinstate: { kind: "applied", state: "active", moves: "nothing" },
    makePermanent: rejected,
    return: already,
  },
  permanent: {
    // The money has left the balance: only `return` restores it.
    release: rejected,
    reinstate: rejected,
    makePermanent: already,
    return: { kind: "applied", state: "released", moves: "credit" },
  },
};

/** The state machine of a hold. Money moves only into and out of `permanent`. */
export function decideHold(state: HoldState, act: HoldAct): HoldDecision {
  return table[state][act];
}
