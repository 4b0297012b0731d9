import { hexAddressFormat } from "../../../../test/fakes/hex-address-format.ts";
import { expect, test } from "vitest";
import type { DueDelivery } from "./webhooks.port.ts";
import { webhookMessage } from "./webhook-message.ts";

const NOW_MS = 5;
const due: DueDelivery = {
  id: 1,
  lease: "lease",
  endpoint: { id: "hook", url: "https://app.example", headers: {}, secret: "secret", previous: undefined },
  tries: 0,
  change: {
    sequence: 2,
    onlyFinal: false,
    record: {
      requestId: "0x01",
      state: {
        kind: "bridge",
        name: "deposited",
        front: "none",
        depositId: "1",
        failReason: undefined,
        refundFailReason: undefined,
        final: false,
      },
      originChainId: 1,
      destinationChainId: 2,
      createdAtMs: 1,
      updatedAtMs: 2,
      payByMs: 0,
      inTxHashes: ["0x0a"],
      txHashes: [],
      refundTxHashes: [],
    },
  },
  referrer: undefined,
};

const addressIn = (delivery: DueDelivery): unknown =>
  (
    JSON.parse(webhookMessage(delivery, NOW_MS, (secret) => secret, hexAddressFormat).body) as {
      readonly data: { readonly depositAddress: unknown };
    }
  ).data.depositAddress;

test("a message contains the deposit address, its depositor and the deposit", () => {
  const parties = { address: "0x0b", depositor: "0x0c" };
  expect(addressIn({ ...due, depositAddress: { ...parties, strict: false } })).toEqual({
    ...parties,
    depositAddressType: "open",
    depositTxHash: "0x0a",
  });
  const { change } = due;
  const unpaid = { ...change, record: { ...change.record, inTxHashes: [] } };
  expect(addressIn({ ...due, change: unpaid, depositAddress: { ...parties, strict: true } })).toEqual({
    ...parties,
    depositAddressType: "strict",
    depositTxHash: null,
  });
  expect(addressIn(due)).toBeNull();
});
