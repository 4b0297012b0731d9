import { decodeHubAction, hubTokenId, onchainId } from "@causeway/attest";
import { RpcFault } from "@causeway/chains";
import type { Hex, Hex32 } from "@causeway/domain";
import fc from "fast-check";
import { afterAll, beforeEach, expect, test } from "vitest";
import { executionSigners, messageSigners } from "../../support/recovered-signers.ts";
import {
  account,
  aFill,
  anOrder,
  aRefund,
  DEPOSIT_TX,
  FILL_TX,
  oracleSigner,
  orderIdFor,
  startWorld,
  USDC,
  word,
} from "../../support/oracle-world.ts";
import type { Answer, World } from "../../support/oracle-world.ts";

// Property tests of the invariants, for any deposits, payments, requests and faults.

const world = await startWorld();
const other = await startWorld({
  signer: oracleSigner(1),
  origin: world.origin,
  destination: world.destination,
});
afterAll(async () => await Promise.all([world.close(), other.close()]));
beforeEach(() => {
  for (const chain of [world.origin, world.destination]) {
    chain.depositsOf.clear();
    chain.paymentsOf.clear();
    chain.trouble = undefined;
  }
});

const RUNS = 60;
const currencies = [USDC, account("c2"), account("00")];
const byte = (n: number): string => n.toString(16).padStart(2, "0");
const smallAmount = fc.bigInt({ min: 0n, max: 5_000n });

const deposits = fc.array(
  fc.record({
    amount: smallAmount,
    currency: fc.constantFrom(...currencies),
    depositor: fc.constantFrom(account("a1"), account("a2")),
    depositId: fc.constantFrom(undefined, word("0a"), word("0b")),
  }),
  { maxLength: 4 },
);

/** Formats of a transaction id. Only the first one is valid. */
const formats: readonly ((id: Hex32) => string)[] = [
  (id) => id,
  (id) => id.toUpperCase().replace("0X", "0x"),
  (id) => id.slice(2),
  (id) => `0X${id.slice(2)}`,
  (id) => `0x00${id.slice(2)}`,
  (id) => ` ${id}`,
];

async function mustRecover(
  world_: World,
  { body }: Answer,
  kind?: "solverFill" | "solverRefund",
): Promise<void> {
  if (body.execution !== undefined)
    expect(await executionSigners(body.execution)).toEqual([world_.signer.address]);
  for (const message of body.messages ?? [])
    expect(await messageSigners("depositoryDeposit", message)).toEqual([world_.signer.address]);
  if (kind !== undefined) expect(await messageSigners(kind, body.message)).toEqual([world_.signer.address]);
}

const payloadOf = ({ body }: Answer): string =>
  JSON.stringify([
    (body.messages ?? [body.message]).map(({ data, result }) => [data, result]),
    body.execution?.idempotencyKey,
    body.execution?.actions,
  ]);

test("(a) (d) (f): no set of requests, in any format, mints more than was deposited, and oracles agree byte for byte", async () => {
  const requests = fc.array(fc.tuple(fc.nat(2), fc.constantFrom(...formats)), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(fc.tuple(deposits, deposits, deposits), requests, async (held, wanted) => {
      const received = new Map<bigint, bigint>();
      for (const [n, list] of held.entries()) {
        world.origin.addDeposits(word(byte(n + 1)), list);
        for (const { currency, amount } of list) {
          const tokenId = hubTokenId({ name: "origin", vmType: "ethereum-vm" }, currency);
          received.set(tokenId, (received.get(tokenId) ?? 0n) + amount);
        }
      }
      // The hub performs only one execution per key.
      const executions = new Map<string, Hex[]>();
      for (const [n, format] of wanted) {
        const request = { chainId: "origin", transactionId: format(word(byte(n + 1))) };
        const answers = [
          await world.post("depository-deposits", request),
          await other.post("depository-deposits", request),
        ];
        const [mine, theirs] = answers;
        if (mine === undefined || theirs === undefined) throw new Error("expected two queried oracles");
        expect(mine.status).toBe(theirs.status);
        if (mine.status !== 200) continue;
        expect(payloadOf(mine)).toBe(payloadOf(theirs));
        await mustRecover(world, mine);
        await mustRecover(other, theirs);
        const { execution } = mine.body;
        if (execution !== undefined) executions.set(execution.idempotencyKey, execution.actions);
      }
      const minted = new Map<bigint, bigint>();
      for (const action of [...executions.values()].flat().map(decodeHubAction)) {
        if (action.kind !== "mint") throw new Error("expected a mint for the deposit");
        minted.set(action.tokenId, (minted.get(action.tokenId) ?? 0n) + action.amount);
      }
      for (const [tokenId, amount] of minted) expect(amount).toBeLessThanOrEqual(received.get(tokenId) ?? 0n);
    }),
    { numRuns: RUNS },
  );
}, 60_000);

const recipients = [account("b1"), account("b2")];
const payments = fc.array(
  fc.tuple(fc.constantFrom(...recipients), fc.constantFrom(...currencies), fc.bigInt({ min: 0n, max: 20n })),
  { minLength: 1, maxLength: 5 },
);
const transfers = fc.array(
  fc.tuple(fc.constantFrom(...recipients), fc.constantFrom(...currencies), fc.bigInt({ min: 0n, max: 40n })),
  { maxLength: 4 },
);

test("(b): an attested fill was paid to the last unit, with each transfer counted for one payment", async () => {
  await fc.assert(
    fc.asyncProperty(payments, transfers, async (wanted, made) => {
      const order = anOrder((draft) => {
        draft.output.payments = wanted.map(([recipient, currency, minimum]) => ({
          recipient,
          currency,
          minimumAmount: minimum.toString(),
          expectedAmount: "0",
        }));
      });
      const request = await aFill(world, order);
      world.destination.addPayment(FILL_TX, made);
      const total = (
        list: readonly (readonly [string, string, bigint])[],
        to: string,
        token: string,
      ): bigint =>
        list.filter(([r, c]) => r === to && c === token).reduce((sum, [, , amount]) => sum + amount, 0n);
      const isPaid = recipients.every((to) =>
        currencies.every((token) => total(made, to, token) >= total(wanted, to, token)),
      );
      const answer = await world.post("solver-fills", request);
      expect(answer.status).toBe(isPaid ? 200 : 400);
      if (isPaid) await mustRecover(world, answer, "solverFill");
    }),
    { numRuns: RUNS },
  );
}, 60_000);

test("(b): a payment settles its order once, however often and with whatever deposits it is claimed", async () => {
  // The payment matches both the order's output and its refund.
  const order = anOrder((draft) => {
    draft.output.chainId = "origin";
    draft.output.payments.forEach((payment) => (payment.recipient = account("a1")));
  });
  const claims = fc.array(fc.tuple(fc.boolean(), fc.nat(2)), { minLength: 2, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(claims, async (claimed) => {
      const { refunds: _, ...base } = await aRefund(world, order);
      world.origin.addPayment(FILL_TX, [[account("a1"), USDC, 1_000n]]);
      const keys = new Set<string>();
      for (const [asRefund, deposit] of claimed) {
        const transactionId = word(byte(0x40 + deposit));
        world.origin.addDeposits(transactionId, [{ depositId: orderIdFor(order) }]);
        const inputs = [{ transactionId, onchainId: onchainId("origin", transactionId, "0"), inputIndex: 0 }];
        const answer = asRefund
          ? await world.post("solver-refunds", {
              ...base,
              inputs,
              refunds: [{ transactionId: FILL_TX, inputIndex: 0, refundIndex: 0 }],
            })
          : await world.post("solver-fills", { ...base, inputs, fill: { transactionId: FILL_TX } });
        expect(answer.status).toBe(200);
        keys.add(answer.body.execution.idempotencyKey);
      }
      expect(keys.size).toBe(1);
    }),
    { numRuns: 20 },
  );
}, 60_000);

test("(e): a read that fails, finds nothing or is not final never leads to a signature", async () => {
  const kinds = ["fault", "absent", "notFinal", "refuted", "garbage"] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("deposit", "fill", "refund"),
      fc.nat(1),
      fc.constantFrom(...kinds),
      async (what, which, kind) => {
        const fill = await aFill(world);
        const refund = await aRefund(world);
        const evidence = {
          kind: kind === "garbage" ? "unheardOf" : kind,
          reason: "because",
          retryAfterSeconds: 1,
        };
        if (kind === "fault") {
          // Either the first or the second read fails.
          let reads = 0;
          const trouble = async () => {
            if (reads++ === (what === "deposit" ? 0 : which))
              throw new RpcFault({ kind: "network", method: "any", reason: "gone" });
          };
          world.origin.trouble = trouble;
          world.destination.trouble = trouble;
        } else if (what === "deposit" || which === 0)
          world.origin.depositsOf.set(DEPOSIT_TX, evidence as never);
        else {
          const chain = what === "fill" ? world.destination : world.origin;
          for (const id of chain.paymentsOf.keys()) chain.paymentsOf.set(id, () => evidence as never);
        }
        const before = world.signatures.count;
        const answer =
          what === "deposit"
            ? await world.post("depository-deposits", { chainId: "origin", transactionId: DEPOSIT_TX })
            : what === "fill"
              ? await world.post("solver-fills", fill)
              : await world.post("solver-refunds", refund);
        world.origin.trouble = undefined;
        world.destination.trouble = undefined;
        expect(answer.status).toBeGreaterThanOrEqual(400);
        if (kind === "fault") expect(answer.status).toBe(503);
        expect(world.signatures.count).toBe(before);
        expect(answer.text).not.toMatch(/0x[0-9a-f]{130}/);
      },
    ),
    { numRuns: RUNS },
  );
}, 60_000);
