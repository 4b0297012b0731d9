import fc from "fast-check";
import { sha256, bytesOf, toHex, type Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { readRawTransaction } from "./raw-transaction.ts";
import { InvalidMessage } from "./wire-fields.ts";

/** Transactions of mainnet and a test network, in the format that is hashed. */
const CALL: Hex =
  "0x0a028ad92208eaef69105495eb1540f09fc0cfcd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541495511a493d8c362be4267224e6d81013a6862ee121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a00000000000000000000000000000000000000000000000000000000000000017090cbbccfcd33900180c2d72f";
const PAYMENT: Hex =
  "0x0a02163d220877ef4ace148b05ba40d8c5e5a6a32d5a69080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a1541a7d8a35b260395c14aa456297662092ba3b76fc01215415a523b449890854c8fc460ab602df9f31fe4293f18c0843d2802709af4e1a6a32d";

test("reads transactions of the real network, and their bytes hash to their ids", () => {
  expect(toHex(sha256(bytesOf(CALL)))).toBe(
    "0xc70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08",
  );
  expect(readRawTransaction(CALL)).toEqual({
    owner: "0x495511a493d8c362be4267224e6d81013a6862ee",
    to: "0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f",
    input:
      "0xa9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a0000000000000000000000000000000000000000000000000000000000000001",
    value: 0n,
    memo: "0x",
  });
  expect(toHex(sha256(bytesOf(PAYMENT)))).toBe(
    "0x0ae84a8439f5aa8fd2c458879a4031a7452aebed8e6e99ffbccd26842d4323c4",
  );
  expect(readRawTransaction(PAYMENT)).toEqual({
    owner: "0xa7d8a35b260395c14aa456297662092ba3b76fc0",
    to: "0x5a523b449890854c8fc460ab602df9f31fe4293f",
    input: "0x",
    value: 1_000_000n,
    memo: "0x",
  });
});

const varint = (value: bigint): string =>
  value < 0x80n
    ? value.toString(16).padStart(2, "0")
    : `${((value & 0x7fn) | 0x80n).toString(16)}${varint(value >> 7n)}`;
const number = (field: number, value: bigint): string => varint(BigInt(field << 3)) + varint(value);
const bytes = (field: number, hex: string): string =>
  varint(BigInt((field << 3) | 2)) + varint(BigInt(hex.length / 2)) + hex;
const text = (plainText: string): string => Buffer.from(plainText).toString("hex");
const owner = `41${"a1".repeat(20)}`;
const to = `41${"b2".repeat(20)}`;
const contract = (kind: bigint, name: string, content: string, times = 1): string =>
  bytes(
    11,
    number(1, kind) + bytes(2, bytes(1, text(`type.googleapis.com/protocol.${name}`)) + bytes(2, content)),
  ).repeat(times);
const payment = (amount: bigint, extraFields = ""): string =>
  bytes(1, owner) + bytes(2, to) + number(3, amount) + extraFields;
const read = (hex: string) => readRawTransaction(`0x${hex}`);

test("reads a memo; of a repeated field the last value counts, as in all of protobuf", () => {
  const memo = "5e".repeat(32);
  const raw = bytes(10, memo) + contract(1n, "TransferContract", payment(5n, number(3, 9n)));
  expect(read(raw)).toMatchObject({ memo: `0x${memo}`, value: 9n, to: `0x${"b2".repeat(20)}` });
});

test("a transaction that pays no one and calls no contract has no known owner; one that creates a contract does", () => {
  expect(read(contract(2n, "TransferAssetContract", bytes(1, text("1002000"))))).toEqual({
    owner: undefined,
    to: undefined,
    input: "0x",
    value: 0n,
    memo: "0x",
  });
  expect(read(contract(30n, "CreateSmartContract", bytes(1, owner)))).toMatchObject({
    owner: `0x${"a1".repeat(20)}`,
    to: undefined,
    value: 0n,
  });
});

test("refuses ambiguous or misleading bytes", () => {
  const good = contract(1n, "TransferContract", payment(5n));
  expect(read(good).value).toBe(5n);
  const bad: Record<string, string> = {
    "two contracts": good.repeat(2),
    "no contract": bytes(10, "00"),
    "the content of a call in a payment": contract(1n, "TriggerSmartContract", payment(5n)),
    "a negative amount": contract(1n, "TransferContract", payment((1n << 64n) - 1n)),
    "an address of 20 bytes": contract(
      1n,
      "TransferContract",
      bytes(1, owner.slice(2)) + bytes(2, to) + number(3, 5n),
    ),
    "an address with another prefix": contract(
      1n,
      "TransferContract",
      bytes(1, owner) + bytes(2, `a0${to.slice(2)}`),
    ),
    "an amount of bytes": contract(1n, "TransferContract", bytes(1, owner) + bytes(2, to) + bytes(3, "05")),
    "a group, which the format has given up": `0b${good}`,
    "nothing at all": "",
  };
  for (const [label, raw] of Object.entries(bad)) expect(() => read(raw), label).toThrow(InvalidMessage);
});

test("truncated or arbitrary bytes are either read or refused", () => {
  const outcome = (raw: Hex): string => {
    try {
      readRawTransaction(raw);
      return "read";
    } catch (error) {
      if (error instanceof InvalidMessage) return "refused";
      throw error;
    }
  };
  for (let length = 2; length < CALL.length; length += 2)
    expect(["read", "refused"]).toContain(outcome(CALL.slice(0, length) as Hex));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (randomBytes) => {
      expect(["read", "refused"]).toContain(outcome(toHex(randomBytes)));
    }),
  );
});
