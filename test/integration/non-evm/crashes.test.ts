import { feeSponsorshipOf } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import { keepSignedBytes } from "../../support/signed-bytes.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import type { FakeChainKind } from "../../fakes/fake-non-evm-chain.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aPayingKey } from "../../support/paying-key.ts";
import {
  anAccount,
  startNonEvmWorld,
  type NonEvmRequest,
  type NonEvmWorld,
} from "../../support/non-evm-world.ts";

const ONE_USD = 10n ** 18n;

let world: NonEvmWorld;
afterEach(async () => await world.stop());

const kinds: readonly FakeChainKind[] = ["expiring", "outputs"];

test.each(kinds)(
  "after a crash at any step between a deposit and the end of its fill with %s, the recipient is paid exactly once",
  async (destination) => {
    world = await startNonEvmWorld({ destination });
    const crashes = await crashAtEveryStep<NonEvmRequest>(world, {
      prepare: async () => {
        const agreed = await world.storeRequest();
        world.pay(agreed);
        world.origin.network.mineUntilFinal();
        return agreed;
      },
      run: async (by) => {
        await world.watch(world.origin, by);
        await world.work(by);
        world.destination.network.mine();
        await world.track(world.destination, by);
        world.destination.network.mineUntilFinal();
        await world.track(world.destination, by);
      },
      verify: async (agreed, moment) => {
        const { network } = world.destination;
        expect(world.paymentsOf(agreed, world.destination), moment).toHaveLength(1);
        expect(network.received(agreed.terms.recipient, network.native), moment).toBe(95_000n);
        expect(world.paymentsOf(agreed, world.origin), moment).toEqual([]);
        expect((await world.status(agreed.requestId)).status, moment).toBe("success");
      },
    });
    for (const moment of [
      "before connection.arrivals",
      "before nonEvm.setCursor",
      "before lanes.reserve",
      "before connection.prepare",
      "before lanes.addAttempts",
      "before connection.send",
      "after connection.send",
      "before lanes.setBroadcasts",
      "before connection.outcome",
      "before lanes.setMined",
      "before lanes.setFinal",
      "after commit",
    ])
      expect(crashes).toContain(moment);
  },
  120_000,
);

test("whenever the process crashes while a fill is made, its apps are credited once and its sponsor is charged once", async () => {
  world = await startNonEvmWorld({ destination: "outputs" });
  const payer = await aPayingKey(world, 10_000_000);
  const { id: chainId } = world.origin.chain;
  const currency = world.origin.network.native;
  const balanceOf = async (wallet: Hex): Promise<bigint> => {
    const { lines } = await world.services.balances.book(wallet);
    expect(lines.map(({ pending }) => pending)).toEqual(lines.map(() => 0n));
    return lines.find(({ asset }) => asset.currency === currency)?.balance ?? 0n;
  };
  const opening = await balanceOf(payer.wallet);
  let charged = 0n;
  const crashes = await crashAtEveryStep<NonEvmRequest>(world, {
    prepare: async () => {
      const fees = [100, 30].map((bps) => ({
        recipient: anAccount().slice(0, 42) as Hex,
        bps,
        amount: BigInt(bps) * 10n,
      }));
      const agreed = await world.storeRequest({
        keyId: payer.key.id,
        appFees: { chainId, currency, fees },
        appFeesUsd: 1_300n * ONE_USD,
        sponsorship: feeSponsorshipOf(
          {
            wallet: payer.wallet,
            selected: new Set(["execution", "relay", "app"]),
            maxUsd: undefined,
            cap: undefined,
            fixedRate: undefined,
          },
          { execution: 20n, isRent: false, service: 280n, app: 1_300n, swap: 0n, sponsored: 1_600n },
          { decimals: 0, priceUsd: ONE_USD },
        ),
      });
      world.pay(agreed);
      world.origin.network.mineUntilFinal();
      await world.watch(world.origin);
      return agreed;
    },
    run: async (by) => {
      await world.work(by);
      world.destination.network.mine();
      await world.track(world.destination, by);
      world.destination.network.mineUntilFinal();
      await world.track(world.destination, by);
    },
    verify: async ({ requestId, terms }, moment) => {
      charged += 1_600n;
      const { network } = world.destination;
      expect(network.received(terms.recipient, network.native), moment).toBe(95_000n);
      for (const { recipient, amount } of terms.appFees?.fees ?? [])
        expect(await balanceOf(recipient), moment).toBe(amount);
      expect(await balanceOf(payer.wallet), moment).toBe(opening - charged);
      expect((await world.status(requestId)).status, moment).toBe("success");
    },
  });
  for (const moment of ["before ledger.post", "before ledger.closeReservation", "after commit"])
    expect(crashes).toContain(moment);
  expect(await violatedInvariants(world.pool)).toEqual([]);
}, 240_000);

test("refunds exactly once, whenever the process crashes during the refund", async () => {
  world = await startNonEvmWorld({ origin: "outputs" });
  const crashes = await crashAtEveryStep<NonEvmRequest>(world, {
    prepare: async () => {
      const agreed = await world.storeRequest({ forceRefund: true });
      world.pay(agreed);
      world.origin.network.mineUntilFinal();
      return agreed;
    },
    run: async (by) => {
      await world.watch(world.origin, by);
      await world.work(by);
      world.origin.network.mine();
      await world.track(world.origin, by);
      world.origin.network.mineUntilFinal();
      await world.track(world.origin, by);
    },
    verify: async (agreed, moment) => {
      const { network } = world.origin;
      expect(world.paymentsOf(agreed, world.origin), moment).toHaveLength(1);
      expect(network.received(agreed.terms.refundTo, network.native), moment).toBeGreaterThan(99_000n);
      expect(world.paymentsOf(agreed, world.destination), moment).toEqual([]);
      expect((await world.status(agreed.requestId)).status, moment).toBe("refund");
    },
  });
  for (const moment of ["before connection.prepare", "after connection.send", "before deposits.setRefund"])
    expect(crashes).toContain(moment);
}, 120_000);

test.each(kinds)(
  "whenever the process crashes while it prepares a replacement fill with %s, only one of its variants pays",
  async (destination) => {
    world = await startNonEvmWorld({ destination });
    const { network } = world.destination;
    const signedBytes = await keepSignedBytes(world.pool);
    const crashes = await crashAtEveryStep<NonEvmRequest>(world, {
      prepare: async () => {
        const agreed = await world.storeRequest();
        world.pay(agreed);
        world.origin.network.mineUntilFinal();
        await world.watch(world.origin);
        network.refusal = "not now";
        await world.work();
        network.refusal = undefined;
        // The first attempt has expired or is stuck by now.
        network.mine(20);
        world.clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
        return agreed;
      },
      run: async (by) => {
        await world.track(world.destination, by);
        network.mine();
        await world.track(world.destination, by);
      },
      verify: async (agreed, moment) => {
        // A third party now broadcasts the bytes of the first attempt.
        const slot = await world.services.reads.slotOfLeg("fill", agreed.requestId);
        const variants = await signedBytes(slot);
        expect(variants, moment).toHaveLength(slot?.attempts.length ?? 0);
        for (const raw of variants) network.addToPool(raw);
        network.mineUntilFinal();
        await world.track(world.destination);
        expect(world.paymentsOf(agreed, world.destination), moment).toHaveLength(1);
        expect((await world.status(agreed.requestId)).status, moment).toBe("success");
      },
    });
    expect(crashes).toContain("before lanes.addAttempts");
  },
  120_000,
);

test.each([true, false])(
  "after a crash at any step of reading a transfer whose nonce is mapped (%s), there is one deposit and one payment",
  async (isMapped) => {
    world = await startNonEvmWorld();
    const { network } = world.origin;
    let nonce = 0n;
    const crashes = await crashAtEveryStep<NonEvmRequest>(
      {
        services: world.services,
        // A return to the sender does not end the request.
        untilFinal: async (requestId) => {
          if (isMapped) return await world.untilFinal(requestId);
          for (let more = 0; more < 12; more++) {
            world.clock.forward(6_000);
            await world.round();
          }
          return undefined;
        },
      },
      {
        prepare: async () => {
          const agreed = await world.storeRequest();
          const { user, orderId, origin } = agreed.terms;
          const { currency, amount } = origin;
          nonce += 1n;
          network.deposit({ from: user, currency, amount, nonce });
          network.mineUntilFinal();
          await world.watch(world.origin);
          if (isMapped) world.setNonceMapping(user, nonce, { id: orderId, depositor: user });
          else world.clock.forward(3_700_000);
          return agreed;
        },
        run: async (by) => {
          await world.watch(world.origin, by);
          await world.work(by);
        },
        verify: async (agreed, moment) => {
          const back = network.received(agreed.terms.user, network.native);
          expect(back, moment).toBe(isMapped ? 0n : 99_990n);
          expect(world.paymentsOf(agreed, world.destination), moment).toHaveLength(isMapped ? 1 : 0);
        },
      },
    );
    expect(crashes).toContain("before nonEvm.endWaiting");
  },
  120_000,
);
