import { afterEach, beforeEach, expect, test } from "vitest";
import { idempotencyStore } from "../../../apps/api/src/http/idempotency-store.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { LeaseLost, type IdempotencyLease } from "../../../apps/api/src/http/idempotency.port.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import { Crashed, type CrashingServices } from "../../fakes/crashing-services.ts";
import { deposit } from "../../support/deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aSponsor, type Sponsor } from "../../support/sponsors.ts";

let world: EngineWorld;
let sponsor: Sponsor;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
  sponsor = await aSponsor(world, 1_000_000);
});
afterEach(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

const agree = async (): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress() });

/** Checks that the recipient was paid once, and that no exposure is left. */
async function expectPaidOnce(agreed: QuotedRequest, moment: string): Promise<void> {
  const { recipient, destination } = agreed.terms;
  expect(await world.paymentsOf(agreed, world.destination), moment).toHaveLength(1);
  expect(await world.destination.balance(recipient, destination.currency), moment).toBe(
    destination.expectedAmount,
  );
  expect(await world.paymentsOf(agreed, world.origin), moment).toEqual([]);
}

test("after a crash of the accepting process at any step, either both the hold and its fill exist or neither does, and a retry fills the request once", async () => {
  const crashes = await crashAtEveryStep(world, {
    prepare: agree,
    run: async (by, agreed) => {
      try {
        await sponsor.fastFill(agreed, {}, by);
      } catch (error) {
        const hold = await sponsor.holdOf(agreed);
        const promised = await world.services.reads.fastFill(agreed.requestId);
        const { name, front } = (await world.request(agreed.requestId)).state;
        const { rows } = await world.pool.query(
          "select 1 from outbox where job_name = 'fill' and payload like '%' || $1 || '%'",
          [agreed.requestId],
        );
        const wasAccepted = hold !== undefined;
        expect({ promised: promised !== undefined, name, front, jobs: rows.length }).toEqual(
          wasAccepted
            ? { promised: true, name: "fillable", front: "held", jobs: 1 }
            : { promised: false, name: "quoted", front: "none", jobs: 0 },
        );
        // The caller got no answer, and retries at another process.
        if (wasAccepted)
          await expect(sponsor.fastFill(agreed)).rejects.toMatchObject({ code: "REQUEST_IN_PROGRESS" });
        else expect(await sponsor.fastFill(agreed)).toBe("queued");
        throw error;
      }
    },
    verify: async (agreed, moment) => {
      await expectPaidOnce(agreed, moment);
      expect(await sponsor.holdState(agreed), moment).toBe("active");
    },
  });
  for (const moment of [
    "before ledger.addHold",
    "before fastFills.add",
    "before outbox.add",
    "before commit",
    "after commit",
  ])
    expect(crashes).toContain(moment);
}, 120_000);

test("whenever the worker crashes between the acceptance and the end of a fast fill, the recipient is paid exactly once and the hold follows the deposit", async () => {
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await agree();
      await sponsor.fastFill(agreed);
      return agreed;
    },
    run: async (by, agreed) => {
      await world.work(by);
      await world.destination.mine();
      await world.watch(world.destination, by);
      await deposit(world.origin, world.user, agreed);
      await world.origin.mine();
      await world.watch(world.origin, by);
      await world.destination.mine(2);
      await world.watch(world.destination, by);
    },
    verify: async (agreed, moment) => {
      await expectPaidOnce(agreed, moment);
      const [found] = await world.depositsOf(agreed.requestId);
      // If the process crashed early, the user never made the deposit, and the hold stays.
      expect(await sponsor.holdState(agreed), moment).toBe(found === undefined ? "active" : "released");
    },
  });
  for (const moment of [
    "before lanes.reserve",
    "before sign",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
    "before lanes.setBroadcasts",
    "before lanes.setMined",
    "before ledger.setHold",
    "before lanes.setFinal",
  ])
    expect(crashes).toContain(moment);
}, 240_000);

test("many concurrent fast fills of one request, by two apps in two processes, create one hold and one fill", async () => {
  const other = await aSponsor(world, 1_000_000);
  for (let round = 0; round < 5; round++) {
    const agreed = await agree();
    const answers = await Promise.allSettled(
      [sponsor, other, sponsor, other, other, sponsor].map(async (by) => await by.fastFill(agreed)),
    );
    const queued = answers.filter((answer) => answer.status === "fulfilled");
    expect(queued.map(({ value }) => value)).toEqual(["queued"]);
    for (const answer of answers)
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "REQUEST_IN_PROGRESS" });
    const holds = await world.pool.query("select wallet from holds where request_id = $1", [
      agreed.requestId,
    ]);
    expect(holds.rows).toHaveLength(1);
    await Promise.all([world.work(), world.work(), world.work()]);
    await world.untilFinal(agreed.requestId);
    await expectPaidOnce(agreed, `round ${round}`);
  }
}, 60_000);

test("a fast fill that races the watcher's detection of the deposit ends in one fill, with a released hold or none", async () => {
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const agreed = await agree();
    await deposit(world.origin, world.user, agreed);
    await world.origin.mine();
    const [accepted] = await Promise.allSettled([
      new Promise((resolve) => setTimeout(resolve, round * 2)).then(
        async () => await sponsor.fastFill(agreed),
      ),
      world.watch(world.origin),
    ]);
    outcomes.add(accepted.status);
    if (accepted.status === "rejected")
      expect(accepted.reason).toMatchObject({ code: "REQUEST_IN_PROGRESS" });
    await Promise.all([world.work(), world.work()]);
    await world.untilFinal(agreed.requestId);
    await expectPaidOnce(agreed, `round ${round}`);
    expect(await sponsor.holdState(agreed)).toBe(accepted.status === "fulfilled" ? "released" : undefined);
  }
  expect(outcomes.size, "both outcomes occurred").toBe(2);
}, 60_000);

test("the commit that accepts a call stores the answer to its Idempotency-Key, and nothing is committed after a lost lease", async () => {
  const idempotency = idempotencyStore(sqlOn(world.pool));
  const answer = { status: 200, body: JSON.stringify({ message: "Fast fill queued" }) };
  const begin = async (key: string) =>
    await idempotency.begin(
      { scope: sponsor.key.id, endpoint: "POST /fast-fill", key, bodyHash: "00" },
      world.clock.nowMs(),
    );
  const leaseOf = async (key: string): Promise<IdempotencyLease> => {
    const begun = await begin(key);
    if (begun.kind !== "started") throw new Error(`the call is ${begun.kind}`);
    return begun.lease;
  };
  const [kept, lost] = [await agree(), await agree()];
  await sponsor.fastFill(kept, { finish: { lease: await leaseOf("kept"), answer } });
  expect(await begin("kept")).toEqual({ kind: "answered", answer });

  const lease = { ...(await leaseOf("lost")), token: "another lease's" };
  await expect(sponsor.fastFill(lost, { finish: { lease, answer } })).rejects.toThrow(LeaseLost);
  expect(await sponsor.holdOf(lost)).toBeUndefined();
  expect((await world.request(lost.requestId)).state).toMatchObject({ name: "quoted", front: "none" });
});

test("concurrent holds of one app never exceed its balance", async () => {
  const tight = await aSponsor(world, 350);
  const requests = [];
  for (let n = 0; n < 6; n++) requests.push(await agree());
  const answers = await Promise.allSettled(requests.map(async (agreed) => await tight.fastFill(agreed)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  for (const answer of answers)
    if (answer.status === "rejected")
      expect(answer.reason).toMatchObject({ code: "INSUFFICIENT_APP_BALANCE" });
});

test("after a crash of the process that debits a missing deposit, the app pays once", async () => {
  const ttl = 600;
  const { quotePolicy, enginePolicy } = world.services;
  const overdueMs = (ttl + quotePolicy.fillGraceSeconds + 2) * 1_000 + enginePolicy.fastFillGraceMs;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quote({ recipient: world.anAddress(), ttl });
      await sponsor.fastFill(agreed);
      await world.work();
      await world.untilFinal(agreed.requestId);
      world.clock.forward(overdueMs);
      await world.origin.client.setNextBlockTimestamp({
        timestamp: BigInt(Math.ceil(world.clock.nowMs() / 1_000)),
      });
      await world.origin.mine();
      await world.watch(world.origin);
      return agreed;
    },
    run: async (by) => {
      await reconcileRequests(by);
      // The reconciler does not throw this error, because a fault of one debit does not end its round.
      if ("hasCrashed" in by && (by as CrashingServices).hasCrashed()) throw new Crashed("during the debit");
    },
    verify: async (agreed, moment) => {
      await reconcileRequests(world.services);
      await reconcileRequests(world.services);
      expect(await sponsor.holdState(agreed), moment).toBe("permanent");
      const { rows } = await world.pool.query("select 1 from ledger_movements where request_id = $1", [
        agreed.requestId,
      ]);
      expect(rows, moment).toHaveLength(1);
    },
  });
  expect(crashes).toEqual(
    expect.arrayContaining(["before ledger.post", "before ledger.setHold", "after commit"]),
  );
}, 240_000);
