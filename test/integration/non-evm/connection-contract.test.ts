import type { Hex } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { nonEvmConnectionContract } from "../../contracts/non-evm-connection.ts";
import { createFakeConnection } from "../../fakes/fake-connection.ts";
import { FakeNonEvmChain, type FakeChainKind } from "../../fakes/fake-non-evm-chain.ts";

const native: Hex = `0x${"00".repeat(32)}`;
const anAccount = (): Hex => `0x${randomBytes(32).toString("hex")}`;

const kinds: readonly FakeChainKind[] = ["expiring", "outputs"];
for (const kind of kinds)
  nonEvmConnectionContract(`a fake connection of kind ${kind}`, async () => {
    const chain = new FakeNonEvmChain(kind, native, new Map([[native, 1_000_000n]]));
    chain.mineUntilFinal();
    const solver = anAccount();
    return {
      connection: createFakeConnection(chain, { vm: "solana-vm", solver, now: () => Date.now() }),
      currency: native,
      amount: 1_000n,
      aRecipient: async () => anAccount(),
      deposit: async (amount, id) => {
        const from = anAccount();
        const txId = chain.deposit({ from, currency: native, amount, ...(id !== undefined && { id }) });
        return { txId, sender: from };
      },
      mine: async () => chain.mine(),
      settle: async () => chain.mineUntilFinal(),
      lapse: kind === "expiring" ? async () => chain.mine(20) : undefined,
      ...(kind === "outputs" && { canCancel: true }),
      received: async (recipient) => chain.received(recipient, native),
      setDown: (isDown) => {
        chain.isDown = isDown;
      },
      close: async () => undefined,
    };
  });
