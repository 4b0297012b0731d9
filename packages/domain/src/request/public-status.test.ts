import { expect, test } from "vitest";
import { fundsAt, nextAction, pollAfterMs, publicStatus, publicStatuses } from "./public-status.ts";
import { requestStates } from "./state.ts";

const views = requestStates.flatMap((name) =>
  (["bridge", "send", "swap", "call"] as const).flatMap((kind) =>
    [true, false].map((final) => {
      const state = { name, kind, final, depositId: "1" };
      return {
        ...state,
        status: publicStatus(state),
        at: fundsAt(state),
        next: nextAction(state),
        pollMs: pollAfterMs(state),
      };
    }),
  ),
);

test("every state has one of the public statuses", () => {
  for (const { name, status } of views) expect(publicStatuses, name).toContain(status);
});

test.each([
  ["quoted", "waiting", "user", "send_deposit"],
  ["accepted", "waiting", "user", "wait_for_execution"],
  ["depositing", "depositing", "user", "wait_for_confirmations"],
  ["deposited", "pending", "depository", "wait_for_confirmations"],
  ["fillable", "pending", "depository", "wait_for_fill"],
  ["filling", "pending", "depository", "wait_for_fill"],
  ["submitted", "submitted", "depository", "wait_for_fill"],
  ["filled", "success", "recipient", "none"],
  ["refunding", "pending", "depository", "wait_for_refund"],
  ["refunded", "refund", "refunded", "none"],
  ["failed", "failure", "depository", "contact_operator"],
  ["expired", "failure", "user", "quote_again"],
] as const)("a request that is %s shows %s, the money at %s, next %s", (name, status, place, next) => {
  const state = { name, kind: "bridge", final: false, depositId: "1" } as const;
  expect([publicStatus(state), fundsAt(state), nextAction(state)]).toEqual([status, place, next]);
});

test.each([
  ["quoted", "seen", "depositing", "wait_for_confirmations"],
  ["quoted", "held", "waiting", "contact_operator"],
  ["expired", "seen", "failure", "wait_for_confirmations"],
  ["expired", "held", "failure", "contact_operator"],
] as const)(
  "a request that is %s with money %s at its deposit address shows %s, next %s",
  (name, atAddress, status, next) => {
    const state = { name, kind: "bridge", final: false, depositId: undefined } as const;
    expect([publicStatus(state, atAddress), fundsAt(state, atAddress), nextAction(state, atAddress)]).toEqual(
      [status, "depositAddress", next],
    );
  },
);

test("funds at a deposit address do not affect a request that has its deposit or has ended", () => {
  for (const { name, kind, final, depositId, status, at: place, next, pollMs } of views)
    if (name !== "quoted" && name !== "accepted" && name !== "depositing" && name !== "expired")
      for (const atAddress of ["seen", "held"] as const) {
        const state = { name, kind, final, depositId };
        expect([
          publicStatus(state, atAddress),
          fundsAt(state, atAddress),
          nextAction(state, atAddress),
          pollAfterMs(state, atAddress),
        ]).toEqual([status, place, next, pollMs]);
      }
});

test.each(["fillable", "filling", "submitted"] as const)(
  "while a fast fill is %s without a deposit, the user still has the money",
  (name) => {
    expect(fundsAt({ name, kind: "bridge", depositId: undefined })).toBe("user");
  },
);

test("a call holds no money, so a failed call has nothing to refund", () => {
  for (const { kind, at: place, next } of views)
    if (kind === "call") expect([place, next === "contact_operator"]).toEqual(["user", false]);
});

test("a user who pays the recipient directly is asked for a payment, not for a deposit", () => {
  for (const kind of ["send", "swap"] as const)
    expect(nextAction({ name: "quoted", kind })).toBe("send_payment");
});

test("shows a failure only when no refund can follow", () => {
  for (const { name, status } of views)
    if (status === "failure") expect(["failed", "expired"], name).toContain(name);
});

test("tells a client to stop polling only when nothing can change", () => {
  for (const { name, status, next, pollMs, final } of views) {
    if (pollMs === 0) expect(["success", "refund", "failure"], name).toContain(status);
    if (pollMs === 0) expect(final, name).toBe(true);
    if (next.startsWith("wait") || next.startsWith("send")) expect(pollMs, name).toBeGreaterThan(0);
  }
});
