import {
  address,
  createKeyPairFromPrivateKeyBytes,
  getAddressDecoder,
  getAddressEncoder,
  getAddressFromPublicKey,
  getBase58Decoder,
  getBase58Encoder,
  getU64Encoder,
} from "@solana/kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, toHex, type Hex, type Hex32 } from "@causeway/domain";
import { decodeAddress, encodeAddress, transactionIdBytes } from "@causeway/families";
import {
  DEPOSIT_NATIVE,
  depositNativeInstruction,
  depositoryAccounts,
  depositTokenInstruction,
  TOKEN_PROGRAM,
} from "@causeway/families/solana";
import { lamportTransferInstruction, tokenTransferInstruction } from "./payment-instructions.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { readPayment, signPayment, debitsOf } from "./sign-payment.ts";

// Compares our encodings with those of the network's library.

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const amount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const pdas = await depositoryAccounts("99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2");
const u64 = (value: bigint): string => Buffer.from(getU64Encoder().encode(value)).toString("hex");

test("formats and parses addresses and transaction ids like the library", () => {
  fc.assert(
    fc.property(key, (bytes) => {
      const text = getAddressDecoder().decode(bytes);
      expect(decodeAddress("solana-vm", toHex(bytes))).toBe(text);
      expect(bytesOf(encodeAddress("solana-vm", text))).toEqual(
        Uint8Array.from(getAddressEncoder().encode(text)),
      );
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      const text = getBase58Decoder().decode(bytes);
      expect(bytesOf(transactionIdBytes("solana-vm", text))).toEqual(
        Uint8Array.from(getBase58Encoder().encode(text)),
      );
    }),
  );
});

test("encodes amounts like the library, and refuses those that do not fit", () => {
  const [sender, id] = [decodeAddress("solana-vm", `0x${"02".repeat(32)}`), `0x${"ab".repeat(32)}` as Hex32];
  fc.assert(
    fc.property(amount, (value) => {
      expect(depositNativeInstruction({ pdas, sender, amount: value, id }).data).toBe(
        `${DEPOSIT_NATIVE}${u64(value)}${id.slice(2)}`,
      );
      expect(lamportTransferInstruction(sender, sender, value).data).toBe(`0x02000000${u64(value)}`);
    }),
  );
  for (const wrong of [-1n, 2n ** 64n]) {
    expect(() => depositNativeInstruction({ pdas, sender, amount: wrong, id })).toThrow(RangeError);
    expect(() => lamportTransferInstruction(sender, sender, wrong)).toThrow(RangeError);
  }
});

test("a deposit has the accounts that the program expects", async () => {
  const [sender, mint] = [
    decodeAddress("solana-vm", `0x${"02".repeat(32)}`),
    decodeAddress("solana-vm", `0x${"03".repeat(32)}`),
  ];
  const deposit = { pdas, sender, amount: 1n, id: `0x${"ab".repeat(32)}` as Hex32 };
  const signers = ({ keys }: { keys: readonly { pubkey: string; isSigner: boolean }[] }) =>
    keys.filter(({ isSigner }) => isSigner).map(({ pubkey }) => pubkey);
  const native = depositNativeInstruction({ ...deposit, depositor: mint });
  expect(native.keys.map(({ pubkey }) => pubkey).slice(0, 4)).toEqual([
    pdas.depository,
    sender,
    mint,
    pdas.vault,
  ]);
  expect(signers(native)).toEqual([sender]);
  const tokens = await depositTokenInstruction({ ...deposit, mint, tokenProgram: TOKEN_PROGRAM });
  expect(tokens.keys).toHaveLength(10);
  expect(tokens.keys.map(({ pubkey }) => pubkey).slice(0, 5)).toEqual([
    pdas.depository,
    sender,
    sender,
    pdas.vault,
    mint,
  ]);
  expect(signers(tokens)).toEqual([sender]);
});

test("reads the amounts and the lifetime of a signed payment from its bytes", async () => {
  const pair = await createKeyPairFromPrivateKeyBytes(new Uint8Array(32).fill(7));
  const payer = { address: await getAddressFromPublicKey(pair.publicKey), pair };
  const otherAddress = address(decodeAddress("solana-vm", `0x${"09".repeat(32)}`));
  await fc.assert(
    fc.asyncProperty(amount, amount, amount, async (lamports, tokens, lastHeight) => {
      const from = decodeAddress("solana-vm", `0x${"0a".repeat(32)}`);
      const tokenTransfer = {
        tokenProgram: TOKEN_PROGRAM,
        mint: otherAddress,
        decimals: 6,
        from,
        to: otherAddress,
        owner: payer.address,
      };
      const signed = await signPayment(
        payer,
        [
          lamportTransferInstruction(payer.address, otherAddress, lamports),
          tokenTransferInstruction({ ...tokenTransfer, amount: tokens }),
        ],
        { blockhash: otherAddress, lastHeight, slot: 5n },
      );
      expect(readPayment(signed.raw)).toMatchObject({ lastHeight, slot: 5n });
      expect(debitsOf(signed.raw)).toEqual({ lamports, tokens: new Map([[from, tokens]]) });
      // The id is the first signature of the transaction.
      expect(toHex(readPayment(signed.raw).transaction.subarray(1, 65))).toBe(signed.txId);
    }),
    { numRuns: 30 },
  );
  expect(() => readPayment("0x00" as Hex)).toThrow(RangeError);
});

test("parses a formatted cursor, and refuses any other text", () => {
  const cursors = fc.record({
    slot: amount,
    signatures: fc.array(fc.stringMatching(/^[1-9A-Za-z]{64,88}$/)),
  });
  fc.assert(
    fc.property(cursors, (cursor) => {
      expect(readCursor(writeCursor(cursor))).toEqual(cursor);
    }),
  );
  for (const text of ["", "x", "-1", "1.5 a"]) expect(() => readCursor(text)).toThrow(RangeError);
});
