import { connectBitcoin } from "@causeway/chains/bitcoin";
import type { Hex } from "@causeway/domain";
import { encodeAddress, nativeCurrency } from "@causeway/families";
import { startBitcoin } from "@causeway/simulators/bitcoin";
import { nonEvmConnectionContract } from "../../contracts/non-evm-connection.ts";
import {
  anAttestationChain,
  anOwner,
  aNonEvmChain,
  utxoOf,
  CONFIRMATIONS,
  spend,
  type Owner,
} from "../../support/bitcoin-world.ts";
import { startFaultyFronts } from "../../support/faulty-front.ts";

nonEvmConnectionContract("the adapter of Bitcoin", async () => {
  const bitcoin = await startBitcoin();
  const { controls, esploraUrl } = bitcoin;
  const fronts = await startFaultyFronts([bitcoin.rpcUrl, esploraUrl]);
  const [rpcUrl = "", explorerUrl = ""] = fronts.urls;
  const [depository, solver] = [anOwner(), anOwner()];
  for (let index = 0; index < 12; index++) await utxoOf(controls, solver, 100_000n);
  const { username, password } = new URL(bitcoin.rpcUrl);
  const known = Object.assign(new URL(rpcUrl), { username, password });
  const urls = { rpcUrls: [known.href], esploraUrl: explorerUrl };
  const connection = await connectBitcoin({
    chain: aNonEvmChain(depository),
    attestation: anAttestationChain(urls, depository),
    solver: solver.bytes,
    now: () => Date.now(),
    onFault: () => {},
  }).withKey(`0x${Buffer.from(solver.key).toString("hex")}`);
  const paid = new Map<Hex, Owner>();
  return {
    connection,
    currency: encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm")),
    amount: 40_000n,
    takesBack: true,
    aRecipient: async () => {
      const owner = anOwner();
      paid.set(owner.bytes, owner);
      return owner.bytes;
    },
    deposit: async (amount, orderId) => {
      const user = anOwner();
      const index = await utxoOf(controls, user, 100_000n);
      const text = orderId === undefined ? [] : [{ text: orderId }];
      const transaction = spend([index], [{ to: depository, amount }, ...text]);
      await controls.send(transaction.hex);
      return { txId: `0x${transaction.id}`, sender: user.bytes };
    },
    mine: async () => void (await controls.mine(1)),
    settle: async () => void (await controls.mine(CONFIRMATIONS)),
    received: async (recipient) => {
      const answer = await fetch(`${esploraUrl}/address/${paid.get(recipient)?.address}/utxo`);
      return ((await answer.json()) as { value: number }[]).reduce((sum, one) => sum + BigInt(one.value), 0n);
    },
    setDown: (isDown) => fronts.begin(() => (isDown ? { instead: "closed" } : undefined)),
    close: async () => {
      await connection.close();
      await fronts.close();
      await bitcoin.stop();
    },
  };
});
