import { afterAll, describe, expect, test } from "vitest";
import { keepKeysInKms } from "../../support/oracle-keys.ts";

// The tests of an oracle with a raw key, repeated with a key in AWS KMS through the AWS SDK.

const keys = await keepKeysInKms();
afterAll(async () => await keys.stop());

describe("good answers", async () => void (await import("./good-answers.test.ts")));
describe("a quorum", async () => void (await import("./quorum.test.ts")));
describe("orders", async () => void (await import("./orders.test.ts")));
describe("errors", async () => void (await import("./errors.test.ts")));
describe("invariants", async () => void (await import("./invariants.test.ts")));

test("the key service made the signatures", () => {
  expect(keys.kms.calls("Sign")).toBeGreaterThan(200);
});
