import { randomBytes } from "node:crypto";
import { bitcoinEvidence } from "@causeway/chains/bitcoin";
import type { Hex, Hex32 } from "@causeway/domain";
import { nativeCurrency } from "@causeway/families";
import { bitcoinControls, type BitcoinControls } from "@causeway/simulators/bitcoin";
import { beforeAll, describe, expect, test } from "vitest";
import { anAttestationChain, anOwner, CONFIRMATIONS, utxoOf, spend } from "../../support/bitcoin-world.ts";

// The same behavior on Bitcoin Core itself. Needs a regtest node with txindex; BITCOIN_RPC_URL is its URL
// with user and password.

const url = process.env["BITCOIN_RPC_URL"];
if (url === undefined)
  console.warn(
    "bitcoin-core.test.ts is skipped: BITCOIN_RPC_URL must name a Bitcoin Core node (-regtest -txindex)",
  );

describe.skipIf(url === undefined)("Bitcoin Core", () => {
  const depository = anOwner();
  const evidence = () =>
    bitcoinEvidence(anAttestationChain({ rpcUrls: [url ?? ""], esploraUrl: undefined }, depository));
  let controls: BitcoinControls;

  beforeAll(async () => {
    controls = await bitcoinControls(url ?? "");
  });

  test("a deposit and a payment are attested with six confirmations", async () => {
    const [user, recipient] = [anOwner(), anOwner()];
    const orderId: Hex32 = `0x${randomBytes(32).toString("hex")}`;
    const utxo = await utxoOf(controls, user, 200_000n);
    const tx = spend([utxo], [{ to: depository, amount: 50_000n }, { text: orderId }]);
    const payment = spend(
      [await utxoOf(controls, recipient, 100_000n)],
      [{ to: user, amount: 30_000n }, { text: orderId }],
    );
    await controls.send(tx.hex);
    await controls.send(payment.hex);
    expect(await evidence().deposits(tx.id)).toMatchObject({ kind: "notFinal" });
    await controls.mine(CONFIRMATIONS - 1);
    expect(await evidence().deposits(tx.id)).toMatchObject({ kind: "notFinal" });
    await controls.mine(1);
    expect(await evidence().deposits(tx.id)).toMatchObject({
      kind: "final",
      value: { deposits: [{ depositId: orderId, depositor: user.canonical, amount: 50_000n, index: "1" }] },
    });
    const question = {
      orderId,
      solver: `0x${"50".repeat(20)}`,
      deadline: Math.floor(Date.now() / 1_000) + 86_400,
      extraData: "0x",
      receipts: [{ recipient: user.canonical, currency: nativeCurrency("bitcoin-vm") }],
      calls: [],
    } as const;
    expect(await evidence().payments(payment.id, question)).toMatchObject({ value: { amounts: [30_000n] } });
    expect(await evidence().deposits("11".repeat(32))).toEqual({ kind: "absent" });
  });

  test("a deposit that was reorged out is not final, and a withdrawal is executed or made impossible", async () => {
    const user = anOwner();
    const utxo = await utxoOf(controls, user, 200_000n);
    const deposit = spend([utxo], [{ to: depository, amount: 50_000n }]);
    await controls.mineExactly([deposit.hex]);
    await controls.reorganize(1, [spend([utxo], [{ to: user, amount: 50_000n }]).hex]);
    await controls.mine(CONFIRMATIONS);
    expect(await evidence().deposits(deposit.id)).toMatchObject({ kind: "notFinal" });

    const depositoryUtxo = await utxoOf(controls, depository, 200_000n);
    const plan = spend([depositoryUtxo], [{ to: user, amount: 50_000n }], { signed: false });
    const payload: Hex = `0x${Buffer.from(plan.toPSBT()).toString("hex")}`;
    plan.sign(depository.key);
    plan.finalize();
    await controls.send(plan.hex);
    await controls.mine(CONFIRMATIONS);
    expect(await evidence().withdrawal(payload, undefined)).toMatchObject({ value: { status: "executed" } });
  });
});
