import { quotedState } from "@causeway/domain";
import { expect, test } from "vitest";
import { someAddress, someTerms } from "../../../../test/support/terms.ts";
import { standingOf } from "./fast-fill-refusals.ts";

test("a fill that exchanges what the solver pays with is not made ahead of its deposit, and whoever asks is told", () => {
  const terms = someTerms();
  const nowMs = terms.createdAtMs;
  expect(standingOf({ terms, state: quotedState("bridge") }, nowMs)).toBe("open");
  const exchanged = { ...terms, destination: { ...terms.destination, paidFrom: someAddress() } };
  expect(() => standingOf({ terms: exchanged, state: quotedState("bridge") }, nowMs)).toThrow(
    expect.objectContaining({ code: "FAST_FILL_REFUSED" }) as Error,
  );
  expect(standingOf({ terms: exchanged, state: { ...quotedState("bridge"), name: "filled" } }, nowMs)).toBe(
    "filled",
  );
});
