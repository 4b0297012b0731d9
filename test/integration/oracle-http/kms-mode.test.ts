import { afterAll, describe, expect, test } from "vitest";
import { keepKeysInKms } from "./oracle-keys.ts";

// Everything that holds for an oracle with a raw key holds for one whose key is in AWS KMS: the same tests, through AWS's own client.

const keys = await keepKeysInKms();
afterAll(async () => await keys.stop());

describe("good answers", async () => void (await import("./good-answers.test.ts?kms")));
describe("a quorum", async () => void (await import("./quorum.test.ts?kms")));
describe("orders", async () => void (await import("./orders.test.ts?kms")));
describe("errors", async () => void (await import("./errors.test.ts?kms")));
describe("invariants", async () => void (await import("./invariants.test.ts?kms")));

test("and it was the key service that signed", () => {
  expect(keys.kms.calls("Sign")).toBeGreaterThan(200);
});
