import { createLogger, createMetrics } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { buildPlaceholder } from "./server.ts";

test("the placeholder is alive and answers every question with 501, never with an attestation", async () => {
  const app = await buildPlaceholder({
    log: createLogger({ name: "test", level: "silent" }),
    metrics: createMetrics("test"),
  });
  const alive = await app.inject({ url: "/lives/v1" });
  expect([alive.statusCode, alive.json()]).toEqual([200, { status: "ok" }]);
  for (const method of ["GET", "POST"] as const) {
    const answer = await app.inject({
      method,
      url: "/attestations/solver-fills/v1",
      ...(method === "POST" ? { payload: {} } : {}),
    });
    expect([answer.statusCode, answer.json()]).toMatchObject([
      501,
      { message: "the attestation oracle is not built yet", statusCode: 501, error: "Not Implemented" },
    ]);
  }
  await app.close();
});
