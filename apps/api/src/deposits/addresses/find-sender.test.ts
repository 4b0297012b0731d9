import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { findSender } from "./find-sender.ts";
import type { ConfirmedFunds } from "./find-sender.ts";

const address = (n: number): Address => `0x${String(n).repeat(40)}`;
const [depositAddress, token, alice, bob, solver, executor] = [1, 2, 3, 4, 5, 6].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const formerRouter: Address = `0x${"fe".repeat(20)}`;
const contracts = {
  depository: address(7),
  router: address(8),
  approvalProxy: address(9),
  serviceReceiver: address(9),
  multicall3: address(9),
  formerContracts: [formerRouter],
};

type Payments = readonly { readonly from: Address; readonly amount: bigint }[];

async function senderOf(
  payments: Payments | undefined,
  {
    amount = 60n,
    seenBlock = 9_000n,
    unseenBlock = 8_998n,
    ...changes
  }: Partial<ConfirmedFunds> & {
    readonly seenBlock?: bigint;
    readonly unseenBlock?: bigint | "unknown";
  } = {},
): Promise<{ sender: Address | undefined; searched: unknown }> {
  let searched: unknown;
  const connected = {
    chain: { contracts },
    connection: {
      reader: {
        paymentsTo: async (...question: unknown[]) => {
          searched = question;
          return payments;
        },
      },
    },
  } as unknown as ConnectedChain;
  const signers = {
    signer: { address: solver },
    formerSigners: [],
    executor: { address: executor },
  } as unknown as Parameters<typeof findSender>[0];
  const funds = {
    address: depositAddress,
    currency: token,
    chainId: 1,
    amount,
    layers: [
      {
        amount,
        sinceBlock: seenBlock,
        seenAtMs: 0,
        ...(unseenBlock !== "unknown" && { unseenBlock }),
      },
    ],
    ...changes,
  };
  return { sender: await findSender(signers, connected, funds), searched };
}

test.each<[string, Payments | undefined, Address | undefined]>([
  ["one payment", [{ from: alice, amount: 60n }], alice],
  [
    "two payments from one account",
    [
      { from: alice, amount: 20n },
      { from: alice, amount: 40n },
    ],
    alice,
  ],
  [
    "earlier funds that are gone",
    [
      { from: bob, amount: 5n },
      { from: alice, amount: 60n },
    ],
    alice,
  ],
  [
    "two accounts",
    [
      { from: bob, amount: 30n },
      { from: alice, amount: 30n },
    ],
    undefined,
  ],
  ["payments below the balance", [{ from: alice, amount: 59n }], undefined],
  ["payments above the balance", [{ from: alice, amount: 61n }], undefined],
  ["no logged payment", [], undefined],
  ["too many blocks", undefined, undefined],
  ["newly minted tokens", [{ from: NATIVE_CURRENCY, amount: 60n }], undefined],
  ["a payment by the solver", [{ from: solver, amount: 60n }], undefined],
  ["a payment by the executor", [{ from: executor, amount: 60n }], undefined],
  ["a payment by a former router", [{ from: formerRouter, amount: 60n }], undefined],
  ["a payment by the router", [{ from: contracts.router, amount: 60n }], undefined],
])("given %s, finds a sender only if exactly one can be refunded", async (_, payments, sender) => {
  expect((await senderOf(payments)).sender).toBe(sender);
});

test("ignores dust when finding a sender, but not a tenth of the amount", async () => {
  const senderOfAmounts = async (
    ...amounts: readonly [alice: bigint, bob: bigint]
  ): Promise<Address | undefined> => {
    const payments = amounts.map((amount, n) => ({ from: n === 0 ? alice : bob, amount }));
    return (await senderOf(payments, { amount: amounts[0] + amounts[1] })).sender;
  };
  expect(await senderOfAmounts(60_000_000n, 1n)).toBe(alice);
  expect(await senderOfAmounts(1n, 60_000_000n)).toBe(bob);
  expect(await senderOfAmounts(60_000_000n, 6_000_000n)).toBeUndefined();
  // Of a tiny amount every unit counts.
  expect(await senderOfAmounts(60n, 1n)).toBeUndefined();
});

test("searches the blocks since the balance was last lower, or a fixed number before it was first seen", async () => {
  expect((await senderOf([])).searched).toEqual([depositAddress, token, 8_999n, 9_000n]);
  expect((await senderOf([], { unseenBlock: "unknown" })).searched).toEqual([
    depositAddress,
    token,
    4_000n,
    9_000n,
  ]);
  const native = { unseenBlock: "unknown" as const, currency: NATIVE_CURRENCY };
  expect((await senderOf([], native)).searched).toEqual([depositAddress, NATIVE_CURRENCY, 8_985n, 9_000n]);
  expect((await senderOf([], { unseenBlock: "unknown", seenBlock: 3n })).searched).toEqual([
    depositAddress,
    token,
    0n,
    3n,
  ]);
});

test("searches at most 5,000 blocks, even if the last check or the first payment was earlier", async () => {
  const seldom = await senderOf([{ from: alice, amount: 60n }], { unseenBlock: 12n });
  expect([seldom.sender, seldom.searched]).toEqual([alice, [depositAddress, token, 4_000n, 9_000n]]);
  const layers = [
    { amount: 100n, sinceBlock: 3_999n, unseenBlock: 3_998n, seenAtMs: 0 },
    { amount: 60_000n, sinceBlock: 9_000n, unseenBlock: 8_998n, seenAtMs: 1 },
  ];
  const spread = await senderOf([{ from: alice, amount: 60_000n }], { amount: 60_100n, layers });
  expect([spread.sender, spread.searched]).toEqual([undefined, undefined]);
});

test("does not extend the search back to old dust", async () => {
  const layers = [
    { amount: 1n, sinceBlock: 10n, unseenBlock: 9n, seenAtMs: 0 },
    { amount: 60_000n, sinceBlock: 9_000n, unseenBlock: 8_998n, seenAtMs: 1 },
  ];
  const { sender, searched } = await senderOf([{ from: alice, amount: 60_000n }], {
    amount: 60_001n,
    layers,
  });
  expect([sender, searched]).toEqual([alice, [depositAddress, token, 8_999n, 9_000n]]);
});

test("finds the sender of funds that a sweep did not move in their original block, even if confirmations restart", async () => {
  const layers = [{ amount: 60n, sinceBlock: 90_000n, foundBlock: 9_000n, unseenBlock: 8_998n, seenAtMs: 0 }];
  const { sender, searched } = await senderOf([{ from: alice, amount: 60n }], { layers });
  expect(sender).toBe(alice);
  expect(searched).toEqual([depositAddress, token, 8_999n, 9_000n]);
});
