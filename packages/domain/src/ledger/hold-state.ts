/**
 * `active`: the app vouches. `released`: the deposit came, or nothing was paid. `permanent`: the deposit
 * never came and the app paid.
 */
export const holdStates = ["active", "released", "permanent"] as const;
export type HoldState = (typeof holdStates)[number];

/**
 * `reinstate`: a deposit that released the hold vanished in a reorg. `return`: a deposit came after the app
 * had paid.
 */
export const holdActs = ["release", "reinstate", "makePermanent", "return"] as const;
export type HoldAct = (typeof holdActs)[number];

/** What an act does to a hold: leads to a state, finds its work done, or has no business there. */
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
    // The money is gone from the balance: only `return` brings it back.
    release: rejected,
    reinstate: rejected,
    makePermanent: already,
    return: { kind: "applied", state: "released", moves: "credit" },
  },
};

/** The whole life of a hold. Money moves only on the way into and out of `permanent`. */
export function decideHold(state: HoldState, act: HoldAct): HoldDecision {
  return table[state][act];
}
