import type { RailOptions } from "@causeway/chains";
import type { Clock } from "../../ports/clock.ts";
import type { RailUsers } from "../../ports/rail-steps.ts";

/** The user's side of a chain, until it is closed. */
export interface OwnedRailUsers extends RailUsers {
  close(): Promise<void>;
}

/**
 * The user's side of a chain that is reached by a rail; the libraries of its family are loaded here, and not before. Undefined where what it takes is not configured: from there nothing is
 * quoted then.
 */
export async function createRailUsers(
  { chain, attestation }: Pick<RailOptions, "chain" | "attestation">,
  clock: Clock,
): Promise<OwnedRailUsers | undefined> {
  const esploraUrl = attestation.bitcoin?.esploraUrl;
  if (chain.vmType !== "bvm" || chain.bitcoin === undefined || esploraUrl === undefined) return undefined;
  const { createBitcoinUsers } = await import("@causeway/chains/bitcoin");
  const users = createBitcoinUsers({
    esploraUrl,
    network: chain.bitcoin.network,
    depository: chain.depository,
    now: () => clock.nowMs(),
  });
  return {
    balance: users.balance,
    deposit: async (payment) => {
      const made = await users.deposit(payment);
      // Wallets of existing clients read hex.
      const psbt = made.psbt === undefined ? undefined : Buffer.from(made.psbt, "base64").toString("hex");
      return { ...made, psbt };
    },
    close: users.close,
  };
}
