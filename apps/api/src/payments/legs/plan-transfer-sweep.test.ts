import type { NonEvmDepositAddresses } from "@causeway/chains";
import type { Hex, Hex32, RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { DepositAddress, SweepRecord } from "../../deposits/addresses/deposit-addresses.port.ts";
import { planTransferSweep } from "./plan-transfer-sweep.ts";

const NOW_MS = 1_000_000;
const ADDRESS = `0x00${"11".repeat(20)}` as const;
const SOLVER = `0x00${"22".repeat(20)}` as const;
const DEPOSITORY = `0x00${"33".repeat(20)}` as const;
const NATIVE = `0x${"00".repeat(20)}` as const;
const KEY_ID = `0x${"aa".repeat(32)}` as const;
const ORDER = `0x${"bb".repeat(32)}` as const;
/** One dollar per 1,000 satoshis. */
const SATOSHI_USD = 10n ** 15n;

const sweep = {
  id: "7",
  address: ADDRESS,
  chainId: 1,
  currency: NATIVE,
  amount: 200_000n,
  orderId: ORDER as SweepRecord["orderId"],
  requestId: `0x${"cc".repeat(32)}` as SweepRecord["requestId"],
} as SweepRecord;
const DEPOSITOR = `0x${"dd".repeat(32)}` as const;
const depositAddress = { key: { id: KEY_ID as Hex32, depositor: DEPOSITOR, strict: true } } as DepositAddress;

interface Setup {
  readonly kind?: NonEvmDepositAddresses["kind"];
  readonly derived?: Hex;
  readonly excess?: bigint;
  /** Why the code of a program is not trusted. */
  readonly problem?: string;
  /** Sweeps of the same address whose outcome is not final. */
  readonly underWay?: readonly Hex[];
  readonly sweepable?: bigint;
  readonly held?: bigint;
  /** Satoshis that a payment costs. */
  readonly payment?: bigint;
  /** Satoshis that a payment costs according to a single endpoint. */
  readonly unconfirmed?: bigint;
  readonly terms?: Partial<RequestTerms>;
}

async function planSweep({
  kind = "keys",
  derived = ADDRESS,
  excess = 0n,
  problem,
  underWay = [],
  sweepable = 200_000n,
  held = sweepable,
  payment = 400n,
  unconfirmed = payment,
  terms = {},
}: Setup = {}) {
  const depositAddresses: NonEvmDepositAddresses = {
    kind,
    addressOf: ({ id }) => (id === KEY_ID ? derived : "0x"),
    sweepCost: (cost) => (cost * 3n) / 2n,
    problem: async () => problem,
    newest: async () => ({ number: 1n, hash: "0x" }),
    balances: async ([address]) => ({
      atBlock: 1n,
      balances: [{ account: address?.address ?? "0x", currency: NATIVE, amount: held }],
    }),
    sweepable: async () => sweepable,
  };
  const connected = {
    chain: { id: 1, depository: DEPOSITORY, native: { address: NATIVE, decimals: 8 } },
    connection: {
      solver: SOLVER,
      depositAddresses,
      refusalOf: async () => undefined,
      paymentCost: async (_currency: Hex, _recipient: Hex | undefined, trust?: "lead" | "quorum") =>
        trust === "quorum" ? payment : unconfirmed,
    },
  } as unknown as ConnectedNonEvmChain;
  const services = {
    reads: {
      unsettledSlots: async () =>
        underWay.map((data) => ({ leg: { kind: "sweep" }, call: { data }, attempts: [], state: "open" })),
      request: async () => ({ terms }),
    },
    prices: { usd: async () => SATOSHI_USD * 10n ** 8n },
    clock: { nowMs: () => NOW_MS },
  } as unknown as WorkerServices;
  return await planTransferSweep(services, connected, { ...sweep, excess }, depositAddress);
}

test("sends a sweep from the solver, which pays only the fee", async () => {
  expect(await planSweep()).toMatchObject({
    kind: "ready",
    plan: {
      sender: SOLVER,
      leg: { kind: "sweep", id: "7" },
      call: { to: DEPOSITORY, value: 200_000n, data: `0x${"bb".repeat(32)}${"aa".repeat(32)}` },
      maxFeePerGas: 600n,
      outflow: { currency: NATIVE, amount: 0n },
    },
  });
});

test("waits for outputs that are not final, and refuses the sweep if no block has them", async () => {
  const waiting = await planSweep({ sweepable: 0n, held: 200_000n });
  expect(waiting).toMatchObject({ kind: "wait", isQuiet: true });
  expect((await planSweep({ sweepable: 199_999n, held: 199_999n })).kind).toBe("refused");
});

test("waits while its fee is more than three times what the quote charges, until the order's deadline", async () => {
  // 600 satoshis are 0.6 dollars.
  const quotedGas = (usd: bigint, fillDeadlineMs = NOW_MS) => ({ originGasUsd: usd, fillDeadlineMs });
  expect((await planSweep({ terms: quotedGas(2n * 10n ** 17n) })).kind).toBe("ready");
  const expensive = await planSweep({ terms: quotedGas(2n * 10n ** 17n - 1n) });
  expect(expensive).toMatchObject({
    kind: "tooExpensive",
    why: expect.stringContaining("fee of 600") as string,
  });
  expect((await planSweep({ terms: quotedGas(1n, NOW_MS - 1) })).kind).toBe("ready");
});

test("does not request a new quote for a fee that only one endpoint reports", async () => {
  const terms = { originGasUsd: 2n * 10n ** 17n, fillDeadlineMs: NOW_MS };
  expect((await planSweep({ unconfirmed: 40_000n, terms })).kind).toBe("ready");
});

test("never sweeps an address of another key", async () => {
  expect(await planSweep({ derived: SOLVER })).toMatchObject({
    kind: "wait",
    why: expect.stringContaining("DEPOSIT_ADDRESS_BITCOIN_XPUB") as string,
  });
});

test("names the swept address in the call to a program, and the excess as a second deposit", async () => {
  const depositData = `${"bb".repeat(32)}${"aa".repeat(32)}${"dd".repeat(32)}01`;
  expect(await planSweep({ kind: "program", excess: 60_000n, sweepable: 260_000n })).toMatchObject({
    kind: "ready",
    plan: { call: { to: DEPOSITORY, value: 200_000n, data: `0x${depositData}000000000000ea60` } },
  });
  const short = { kind: "program", excess: 60_000n, sweepable: 259_999n } as const;
  expect((await planSweep(short)).kind).toBe("refused");
});

test("runs one sweep per address at a time in a program, and none if its code is not trusted", async () => {
  const sameAddressSweep = `0x${"cc".repeat(32)}${"aa".repeat(32)}` as const;
  expect(await planSweep({ kind: "program", underWay: [sameAddressSweep] })).toMatchObject({
    kind: "wait",
    isQuiet: true,
  });
  expect((await planSweep({ kind: "keys", underWay: [sameAddressSweep] })).kind).toBe("ready");
  const otherAddressSweep = `0x${"cc".repeat(32)}${"ee".repeat(32)}` as const;
  expect((await planSweep({ kind: "program", underWay: [otherAddressSweep] })).kind).toBe("ready");
  expect(await planSweep({ kind: "program", problem: "another program" })).toEqual({
    kind: "wait",
    why: "another program",
  });
});
