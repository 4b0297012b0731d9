import { StartProblem } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { reasonOf, redactor } from "./reason.ts";

test("returns the innermost reason of an error, and a StartProblem's own message", () => {
  const refused = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  expect(reasonOf(new TypeError("fetch failed", { cause: refused }))).toBe("ECONNREFUSED");
  expect(reasonOf(new Error("first line\nsecond line"))).toBe("first line");
  expect(reasonOf(new StartProblem("start Postgres", { cause: refused }))).toBe("start Postgres");
});

test("hides secrets of the environment and keeps addresses", () => {
  const address = `0x${"51".repeat(20)}`;
  const redact = redactor({
    DATABASE_URL: "postgres://user:hunter2-long@db.test:5432/causeway",
    ORACLE_URLS: "https://oracle.test|hunter2-oracle",
    ORACLE_API_KEY: "hunter2-oracle",
    SOLVER_SIGNER: address,
  });
  const text = `postgres://user:hunter2-long@db.test:5432/causeway hunter2-long hunter2-oracle ${address}`;
  expect(redact(text)).toBe(`db.test:5432 *** *** ${address}`);
});
