import { createLogger } from "@causeway/service-kit";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { countedEvents } from "./counted-events.ts";

test("counts a shortfall only if the caller requested peer signatures", async () => {
  const registry = new Registry();
  const events = countedEvents(createLogger({ name: "test", level: "silent" }), registry);
  const facts = {
    route: "solver-fills",
    family: "ethereum-vm",
    outcome: "ok",
    quorum: { signers: 1, threshold: 2, local: "ok" },
  } as const;
  const shortfalls = async (): Promise<string | undefined> =>
    /^oracle_quorum_shortfalls_total\{.*\} (\d+)/m.exec(await registry.metrics())?.[1];
  events.attested({ ...facts, wantsPeers: false });
  expect(await shortfalls()).toBeUndefined();
  events.attested({ ...facts, wantsPeers: true });
  events.attested({ ...facts, wantsPeers: true, quorum: { ...facts.quorum, signers: 2 } });
  expect(await shortfalls()).toBe("1");
});
