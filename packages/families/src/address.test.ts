import { bech32 } from "@scure/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import vector from "../../../test/fixtures/oracle/encoding-01.json" with { type: "json" };
import keys from "../../../test/fixtures/oracle/execution-03-idempotency.json" with { type: "json" };
import { ServiceError, type Hex, type VmType } from "@causeway/domain";
import {
  canonicalAddress,
  canonicalTransactionId,
  decodeAddress,
  encodeAddress,
  nativeCurrency,
  transactionIdBytes,
} from "./address.ts";

const addresses = vector.input.addresses as [VmType, string][];
/** The families of the contract's vectors. Others test their format in their own folder. */
const families = [
  "ethereum-vm",
  "solana-vm",
  "bitcoin-vm",
  "hyperliquid-vm",
  "lighter-vm",
  "tron-vm",
] as const satisfies readonly VmType[];

test("encodes the addresses of the contract's vectors", () => {
  expect(addresses.map(([vm, text]) => encodeAddress(vm, text))).toEqual(vector.output.encoded);
});

test("decodes bytes to the one canonical text", () => {
  for (const [i, [vm, text]] of addresses.entries()) {
    const canonical = vm === "ethereum-vm" ? text.toLowerCase() : text;
    expect(decodeAddress(vm, vector.output.encoded[i] as Hex)).toBe(canonical);
    expect(canonicalAddress(vm, text)).toBe(canonical);
  }
});

test("each family's native currency matches the contract, and has bytes", () => {
  for (const vm of families) {
    expect(nativeCurrency(vm)).toBe(vector.output.nativeCurrencies[vm]);
    expect(canonicalAddress(vm, nativeCurrency(vm))).toBe(nativeCurrency(vm));
  }
});

const outcomeOf = (act: () => unknown) => {
  try {
    act();
    return "accepted";
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.code} ${error.facts.field}`;
  }
};

const P2WPKH = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";

test("refuses an address in another format, of another family or of another network, naming its field", () => {
  const invalid: [VmType, ...string[]][] = [
    [
      "ethereum-vm",
      "",
      "0x",
      "8b5e4db198ffc7f69f8f11f6592f682717df1d92",
      `0x${"a".repeat(39)}`,
      `0x${"a".repeat(41)}`,
    ],
    [
      "ethereum-vm",
      `0X${"a".repeat(40)}`,
      ` 0x${"a".repeat(40)}`,
      `0x${"g".repeat(40)}`,
      `0x${"a".repeat(64)}`,
    ],
    [
      "solana-vm",
      "",
      "0",
      `1${"1".repeat(32)}`,
      "1".repeat(31),
      `0x${"00".repeat(32)}`,
      "I".repeat(32),
      "z".repeat(45),
    ],
    ["solana-vm", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v ", "z".repeat(100_000)],
    [
      "bitcoin-vm",
      "",
      P2WPKH.toUpperCase(),
      P2WPKH.replace("bc1q", "bc1Q"),
      `${P2WPKH}q`,
      P2WPKH.replace(/.$/, "p"),
    ],
    // Test networks: the same programs with other prefixes.
    ["bitcoin-vm", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"],
    ["bitcoin-vm", "1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4aw", "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN"],
    // Version 1 with the checksum of version 0, version 0 with that of version 1, version 0 of 16 bytes (from
    // BIP 350).
    ["bitcoin-vm", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd"],
    ["bitcoin-vm", "bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"],
    [
      "bitcoin-vm",
      "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
      "bc1qr508d6qejxtdg4y5r3zarvaryv98gj9p",
      "bc1pw5dgrnzv",
      "bc1gmk9yu",
    ],
    [
      "tron-vm",
      "",
      "0x41f0623e1012177482912fb057e44e1a9769b1f588",
      "41f0623e1012177482912fb057e44e1a9769b1f588",
    ],
    [
      "tron-vm",
      "TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oM",
      "1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av",
      `0x${"a".repeat(40)}`,
    ],
    [
      "lighter-vm",
      "",
      "01",
      "00",
      "-1",
      "+1",
      "1.0",
      "0x1",
      "1e3",
      " 1",
      (1n << 128n).toString(),
      "9".repeat(400),
    ],
    [
      "hyperliquid-vm",
      "",
      "0x",
      `0x${"0".repeat(30)}`,
      `0x${"0".repeat(33)}`,
      `0x${"0".repeat(98)}`,
      "0".repeat(32),
    ],
  ];
  for (const [vm, ...texts] of invalid)
    for (const text of texts)
      expect(
        outcomeOf(() => encodeAddress(vm, text, "recipient")),
        `${vm} ${text.slice(0, 80)}`,
      ).toBe("INVALID_REQUEST recipient");
});

test("encodes newer witness programs of Bitcoin", () => {
  // The addresses of BIP 350 and BIP 173.
  expect(encodeAddress("bitcoin-vm", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0")).toBe(
    "0x0179be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  );
  expect(encodeAddress("bitcoin-vm", "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3")).toBe(
    "0x001863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
  );
  // A script hash: version 5.
  expect(encodeAddress("bitcoin-vm", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG")).toMatch(/^0xff05[0-9a-f]{40}$/);
});

test("a longer prefix that starts like Bitcoin's belongs to another network", () => {
  const words = [0, ...bech32.toWords(new Uint8Array(20).fill(7))];
  expect(outcomeOf(() => encodeAddress("bitcoin-vm", bech32.encode("bc", words)))).toBe("accepted");
  expect(outcomeOf(() => encodeAddress("bitcoin-vm", bech32.encode("bc1x", words)))).toBe(
    "INVALID_REQUEST address",
  );
});

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);

test("no two texts of a family have the same bytes", () => {
  const shapes: Record<(typeof families)[number], fc.Arbitrary<Hex>> = {
    "ethereum-vm": hex(20),
    "solana-vm": hex(32),
    "bitcoin-vm": fc.oneof(
      fc
        .tuple(fc.integer({ min: 0, max: 16 }), hex(0, 42))
        .map(([version, program]): Hex => `0x${version.toString(16).padStart(2, "0")}${program.slice(2)}`),
      fc
        .tuple(fc.constantFrom("00", "05", "6f", "ff"), hex(20))
        .map(([version, hash]): Hex => `0xff${version}${hash.slice(2)}`),
      hex(0, 50),
    ),
    "hyperliquid-vm": hex(16, 24),
    "lighter-vm": hex(16),
    "tron-vm": hex(20).map((hash): Hex => `0x41${hash.slice(2)}`),
  };
  for (const vm of families)
    fc.assert(
      fc.property(shapes[vm], (bytes) => {
        const text = (() => {
          try {
            return decodeAddress(vm, bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(ServiceError);
            expect(vm).toBe("bitcoin-vm");
            return undefined;
          }
        })();
        if (text !== undefined) expect(encodeAddress(vm, text)).toBe(bytes);
      }),
    );
});

test("any text is an address or is refused with a ServiceError", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom(...Array.from("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")),
      maxLength: 60,
    }),
    fc
      .string({ unit: fc.constantFrom(...Array.from("qpzry9x8gf2tvdw0s3jn54khce6mua7l")), maxLength: 90 })
      .map((words) => `bc1${words}`),
    fc.constantFrom("__proto__", "constructor", "bc1", "T", "0x"),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(...families), (text, vm) => {
      for (const act of [() => canonicalAddress(vm, text), () => canonicalTransactionId(vm, text)])
        expect(outcomeOf(act)).toMatch(/^(accepted|INVALID_REQUEST .*)$/);
    }),
    { numRuns: 400 },
  );
});

const hash = "ac1089f9d0dc8501000dbda42b9460baa665d16b9973b658e4eeee5712c17100";
const solanaId = keys.input.parts[2]![1]!;

test("a transaction id has one format in each family", () => {
  const good: [VmType, string, string][] = [
    ["ethereum-vm", `0x${hash}`, `0x${hash}`],
    ["hyperliquid-vm", `0x${hash}`, `0x${hash}`],
    ["bitcoin-vm", hash, `0x${hash}`],
    ["tron-vm", hash, `0x${hash}`],
    ["lighter-vm", `${hash}${"0".repeat(16)}`, `0x${hash}${"0".repeat(16)}`],
  ];
  for (const [vm, id, bytes] of good) {
    expect(canonicalTransactionId(vm, id)).toBe(id);
    expect(transactionIdBytes(vm, id)).toBe(bytes);
    const malformed = [
      id.startsWith("0x") ? id.slice(2) : `0x${id}`,
      id.toUpperCase(),
      id.replace("ac", "AC"),
      id.replace("0x", "0X0").replace(/^ac/, "0ac"),
      id.slice(0, -1),
      `${id}0`,
      `${id}\n`,
      ` ${id}`,
      "",
    ];
    for (const malformedId of malformed)
      expect(
        outcomeOf(() => canonicalTransactionId(vm, malformedId)),
        `${vm} ${JSON.stringify(malformedId)}`,
      ).toBe("INVALID_REQUEST transactionId");
  }
});

test("a Solana signature is base58 of exactly 64 bytes", () => {
  expect(canonicalTransactionId("solana-vm", solanaId)).toBe(solanaId);
  expect(transactionIdBytes("solana-vm", solanaId)).toMatch(/^0x[0-9a-f]{128}$/);
  for (const id of [
    `1${solanaId}`,
    solanaId.slice(0, -3),
    solanaId.toLowerCase(),
    `${solanaId}1`,
    "1".repeat(63),
    `0x${hash}`,
  ])
    expect(
      outcomeOf(() => canonicalTransactionId("solana-vm", id)),
      id,
    ).toBe("INVALID_REQUEST transactionId");
});
