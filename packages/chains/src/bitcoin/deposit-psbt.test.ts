import { p2pkh, p2sh, p2tr, p2wpkh, p2wsh, p2pk, Transaction, utils } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { expect, test } from "vitest";
import {
  textOutput,
  depository,
  orderId,
  unsigned,
  user,
} from "../../../../test/support/bitcoin-transactions.ts";
import { depositTransaction, typicalDepositFee } from "./deposit-psbt.ts";
import { hexOf, readRawTransaction } from "@causeway/families/bitcoin";

const publicKey = pubECDSA(user.key);
const kinds = {
  "a key's witness program": p2wpkh(publicKey),
  "a Taproot key": p2tr(utils.pubSchnorr(user.key)),
  "a key's hash": p2pkh(publicKey),
  "a nested witness program": p2sh(p2wpkh(publicKey)),
};

for (const [kind, { script }] of Object.entries(kinds))
  test(`a wallet with ${kind} can sign the deposit, and its fee matches the fee rate`, () => {
    const userScript = hexOf(script);
    const source = unsigned(
      [{ script: user.script, amount: 1n }],
      [{ script: userScript, amount: 100_000n }],
    );
    const bytes = source.unsignedTx;
    const txid = readRawTransaction(bytes)?.txid ?? "";
    const terms = {
      userScript,
      depositoryScript: depository.script,
      amount: 40_000n,
      opReturnText: orderId,
      utxos: [{ txid, vout: 0, amount: 100_000n, script: userScript }],
      sources: new Map([[txid, bytes]]),
      rate: 5_000n,
      publicKey: kind.includes("Taproot") ? utils.pubSchnorr(user.key) : publicKey,
    };
    const built = depositTransaction(terms);
    const tx = Transaction.fromPSBT(Buffer.from(built?.psbt ?? "", "base64"), { allowUnknownOutputs: true });
    tx.sign(user.key);
    tx.finalize();
    const paid = readRawTransaction(tx.extract());
    expect(paid?.outputs).toEqual([
      { script: depository.script, amount: 40_000n },
      textOutput(orderId),
      { script: userScript, amount: 60_000n - (built?.fee ?? 0n) },
    ]);
    const size = BigInt(tx.vsize);
    expect(built?.fee).toBeGreaterThanOrEqual(size * 5n);
    expect(built?.fee).toBeLessThanOrEqual((size + 20n) * 5n);
    expect(typicalDepositFee(terms)).toBe(built?.fee);
  });

test("returns no PSBT for insufficient funds, an unknown script, or a nested script without its key", () => {
  const scripts = {
    poor: user.script,
    unknown: hexOf(p2wsh(p2pk(publicKey)).script),
    nested: hexOf(kinds["a nested witness program"].script),
  };
  for (const [name, userScript] of Object.entries(scripts)) {
    const amount = name === "poor" ? 40_000n : 100_000n;
    const terms = {
      userScript,
      depositoryScript: depository.script,
      amount: 40_000n,
      opReturnText: orderId,
      utxos: [{ txid: "11".repeat(32), vout: 0, amount, script: userScript }],
      sources: new Map<string, Uint8Array>(),
      rate: 5_000n,
      publicKey: undefined,
    };
    expect(depositTransaction(terms)).toBeUndefined();
    expect(typicalDepositFee(terms)).toBeGreaterThan(0n);
  }
});
