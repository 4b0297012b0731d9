import type { Hex, Hex32, NonEvmChain } from "@causeway/domain";
import { encodeAddress, transactionIdBytes } from "@causeway/families";
import { solanaKey } from "@causeway/simulators/solana";
import { randomBytes } from "node:crypto";
import { nonEvmConnectionContract } from "../../contracts/non-evm-connection.ts";
import { NATIVE, startSolanaWorld } from "../../support/solana-world.ts";
import { payingConnection } from "../../support/paying-connection.ts";

nonEvmConnectionContract("the adapter of Solana", async () => {
  const world = await startSolanaWorld();
  const { controls } = world.node;
  const bytes = (text: string): Hex => encodeAddress("solana-vm", text);
  const connection = await payingConnection({
    chain: {
      name: "solana",
      vmType: "svm",
      family: "solana-vm",
      rpcUrl: world.node.url,
      depository: bytes(world.depository.program),
      native: { address: bytes(NATIVE) },
      tokens: [],
      blockTimeSeconds: 0.4,
    } as unknown as NonEvmChain,
    attestation: world.chain(),
    privateKey: `0x${Buffer.from(world.solver.seed).toString("hex")}`,
    now: () => Date.now(),
    onFault: () => {},
  });
  const recipients = new Map<Hex, string>();
  return {
    connection,
    currency: bytes(NATIVE),
    amount: 5_000_000n,
    aRecipient: async () => {
      const { address } = await solanaKey(randomBytes(32));
      recipients.set(bytes(address), address);
      return bytes(address);
    },
    deposit: async (amount, orderId) => {
      controls.pauseFinality();
      const id: Hex32 = orderId ?? `0x${"00".repeat(32)}`;
      const txId = await world.send(world.user, [await world.deposit({ id, amount, currency: NATIVE })]);
      return { txId: transactionIdBytes("solana-vm", txId), sender: bytes(world.user.address) };
    },
    mine: async () => await Promise.resolve(controls.passSlots(1)),
    settle: async () => {
      controls.resumeFinality();
      controls.passSlots(1);
      await Promise.resolve(controls.finalize());
    },
    // Afterwards every block that could contain earlier signed bytes is final.
    lapse: async () => await Promise.resolve(controls.passSlots(150 + 32 + 10)),
    received: async (recipient) =>
      await Promise.resolve(controls.account(recipients.get(recipient) ?? "")?.lamports ?? 0n),
    setDown: (isDown) =>
      controls.trouble(isDown ? () => ({ kind: "error", code: -32005, message: "behind" }) : undefined),
    close: async () => {
      await connection.close();
      await world.close();
    },
  };
});
