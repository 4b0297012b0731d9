import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { signatureTimes } from "./signature-times.ts";

test("times signatures by account, source and outcome, and passes results and errors on", async () => {
  const registry = new Registry();
  const timed = signatureTimes(registry)("0x51", "aws-kms");
  expect(await timed(async () => await Promise.resolve("signature"))).toBe("signature");
  await expect(timed(async () => await Promise.reject(new Error("down")))).rejects.toThrow("down");
  const page = await registry.metrics();
  for (const outcome of ["ok", "fault"])
    expect(page).toMatch(
      new RegExp(
        `causeway_signer_seconds_count\\{(?=.*account="0x51")(?=.*source="aws-kms")(?=.*outcome="${outcome}").*\\} 1`,
      ),
    );
});
