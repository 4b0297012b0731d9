import { hexAddressFormat } from "../../../../test/fakes/hex-address-format.ts";
import { requestStates, type Hex } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import { expect, test } from "vitest";
import type { Reads } from "../db/reads.port.ts";
import type { StatusRecord } from "../db/records.port.ts";
import { requestStatus, statusByIdOrDeposit, statusView } from "./request-status.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import { aConnectedNonEvmChain } from "../../../../test/fakes/non-evm-chains.ts";
import { noChains } from "../../../../test/fakes/no-chains.ts";

const record: StatusRecord = {
  requestId: "0x01",
  state: {
    name: "quoted",
    kind: "bridge",
    front: "none",
    depositId: undefined,
    failReason: undefined,
    refundFailReason: undefined,
    final: false,
  },
  originChainId: 1,
  destinationChainId: 2,
  createdAtMs: 1_000,
  updatedAtMs: 2_000,
  payByMs: 5_000,
  inTxHashes: ["0xaa"],
  txHashes: ["0xbb"],
  refundTxHashes: ["0xcc"],
};

/** Before the payment deadline. */
const NOW_MS = 4_000;
const clock = { nowMs: () => NOW_MS };

test("reports hashes, chains and times as stored", async () => {
  const view = await requestStatus(
    { reads: { status: async () => record } as never, chains: noChains, clock },
    "0x01",
  );
  expect(view).toMatchObject({
    requestId: "0x01",
    inTxHashes: ["0xaa"],
    txHashes: ["0xbb"],
    refundTxHashes: ["0xcc"],
    originChainId: 1,
    destinationChainId: 2,
    quoteCreatedAtMs: 1_000,
    updatedAtMs: 2_000,
  });
});

test("an unknown id has no status", async () => {
  const reads = { status: async () => undefined } as never;
  expect(await requestStatus({ reads, chains: noChains, clock }, "0x02")).toBeUndefined();
});

test("returns the request of a deposit hash, under the request's id", async () => {
  const view = statusView(record, NOW_MS, hexAddressFormat);
  const reads: Pick<Reads, "status" | "requestOfDeposit"> = {
    status: async (id) => (id === "0x01" ? record : undefined),
    requestOfDeposit: async (txHash) => (txHash === "0xaa" ? "0x01" : undefined),
  };
  const services = { reads, chains: noChains, clock };
  expect(await statusByIdOrDeposit(services, "0xaa")).toEqual(view);
  expect(await statusByIdOrDeposit(services, "0x01")).toEqual(view);
  expect(await statusByIdOrDeposit(services, "0xbb")).toBeUndefined();
});

test("reasons are N/A until there is one", () => {
  expect(statusView(record, NOW_MS, hexAddressFormat)).toMatchObject({
    failReason: "N/A",
    refundFailReason: "N/A",
  });
  const failed = {
    ...record.state,
    failReason: "SLIPPAGE",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  } as const;
  expect(statusView({ ...record, state: failed }, NOW_MS, hexAddressFormat)).toMatchObject({
    failReason: "SLIPPAGE",
    refundFailReason: "MANUAL_REFUND_REQUIRED",
  });
});

test("only failures have details, with a prefix that stops clients from retrying", () => {
  for (const name of requestStates) {
    const view = statusView({ ...record, state: { ...record.state, name } }, NOW_MS, hexAddressFormat);
    if (view.status === "failure") expect(view.details, name).toMatch(/^Transaction failed: /);
    else expect(view, name).not.toHaveProperty("details");
  }
});

test("a superseded request reports its successor's status under its own id", async () => {
  const reads = {
    status: async (id: string) =>
      id === "0x01"
        ? { ...record, supersededBy: "0x09" }
        : { ...record, requestId: "0x09", txHashes: ["0xdd"], state: { ...record.state, name: "filled" } },
  };
  expect(await requestStatus({ reads, chains: noChains, clock } as never, "0x01")).toMatchObject({
    requestId: "0x01",
    supersededByRequestId: "0x09",
    status: "success",
    txHashes: ["0xdd"],
  });
  const gone = {
    status: async (id: string) => (id === "0x01" ? { ...record, supersededBy: "0x09" } : undefined),
  };
  expect(await requestStatus({ reads: gone, chains: noChains, clock } as never, "0x01")).toMatchObject({
    status: "waiting",
  });
});

test("further funds at the address of a superseded request do not change the reported status", async () => {
  const filled = { ...record, requestId: "0x09", state: { ...record.state, name: "filled" } };
  const reads = {
    status: async (id: string) =>
      id === "0x01" ? { ...record, supersededBy: "0x09", addressFunds: "held" } : filled,
  };
  expect(await requestStatus({ reads, chains: noChains, clock } as never, "0x01")).toMatchObject({
    supersededByRequestId: "0x09",
    status: "success",
    fundsAt: "recipient",
    nextAction: "none",
  });
});

test("asks for a new quote after the payment deadline, unless funds were seen", () => {
  const nextActionAt = (nowMs: number, addressFunds?: "seen") =>
    statusView({ ...record, ...(addressFunds && { addressFunds }) }, nowMs, hexAddressFormat).nextAction;
  expect([nextActionAt(5_000), nextActionAt(5_001), nextActionAt(5_001, "seen")]).toEqual([
    "send_deposit",
    "quote_again",
    "wait_for_confirmations",
  ]);
});

test("reports funds at a deposit address as soon as they are seen", () => {
  expect(statusView({ ...record, addressFunds: "seen" }, NOW_MS, hexAddressFormat)).toMatchObject({
    status: "depositing",
    fundsAt: "depositAddress",
    nextAction: "wait_for_confirmations",
  });
  expect(statusView({ ...record, addressFunds: "held" }, NOW_MS, hexAddressFormat)).toMatchObject({
    status: "waiting",
    fundsAt: "depositAddress",
    nextAction: "contact_operator",
  });
});

test("formats deposits and refunds in the format of the origin chain, and fills in that of the destination chain", async () => {
  const chains = createChainDirectory([], [aConnectedNonEvmChain("svm"), aConnectedNonEvmChain("bvm")]);
  const [solana, bitcoin] = chains.nonEvmChains;
  const signature: Hex = `0x${"01".repeat(64)}`;
  const txid: Hex = `0x${"ab".repeat(32)}`;
  const stored = {
    ...record,
    originChainId: solana?.chain.id ?? 0,
    destinationChainId: bitcoin?.chain.id ?? 0,
    inTxHashes: [signature],
    txHashes: [txid],
    refundTxHashes: [signature],
  };
  const view = await requestStatus({ reads: { status: async () => stored } as never, chains, clock }, "0x01");
  const text = formatTransactionId({ vmType: "svm" }, signature);
  expect(text).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
  expect(view).toMatchObject({ inTxHashes: [text], txHashes: ["ab".repeat(32)], refundTxHashes: [text] });
});
