import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { breakLeader, LEADER_FAULTS, TAKEOVER_BOUND_MS, workerCables } from "../../scripts/soak/takeovers.ts";
import { anAddress, startBridging, type Bridging } from "./bridging.ts";
import { portBaseOf } from "./port-bases.ts";

// `npm run soak -- --takeovers 20` repeats these faults twenty times.

const cables = workerCables();
let bridging: Bridging;

beforeAll(async () => {
  bridging = await startBridging({
    portBase: portBaseOf("takeover"),
    users: 4,
    workers: 2,
    workerEnv: cables.workerEnv,
  });
});
afterAll(async () => {
  await bridging.system.stop();
  await cables.close();
});

test.for(LEADER_FAULTS)(
  "after %s of the leading worker, another worker leads within 5 seconds, and every recipient is paid once",
  { timeout: 120_000 },
  async (fault) => {
    const { system, api } = bridging;
    const [, destination] = system.chains;
    if (destination === undefined) throw new Error("the system has no second chain");
    const bridges = await Promise.all(
      [0, 1, 2, 3].map(async (user) => {
        const recipient = anAddress();
        const quote = await bridging.quote(user, recipient);
        return { quote, recipient, execute: async () => await bridging.walletOf(user).execute(quote) };
      }),
    );
    const execute = async (from: number, to: number): Promise<void> =>
      void (await Promise.all(bridges.slice(from, to).map(async (bridge) => await bridge.execute())));
    // Two deposits are being filled when the leader fails. Two more arrive while there is no leader.
    await execute(0, 2);
    const breaking = breakLeader(system.workers, cables, { chain: destination.name, fault });
    await sleep(200);
    await execute(2, 4);
    const takeover = await breaking;
    expect(takeover.tookMs).toBeLessThan(TAKEOVER_BOUND_MS);
    // The frozen worker continues here.
    await takeover.heal();
    for (const { quote, recipient } of bridges) {
      expect((await api.follow(quote.requestId, 60_000)).at(-1)?.status).toBe("success");
      expect(await bridging.arrived(recipient)).toEqual({
        amount: BigInt(quote.details.currencyOut.amount),
        payments: 1,
      });
    }
  },
);
