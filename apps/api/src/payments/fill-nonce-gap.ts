import { signTransaction } from "@causeway/chains";
import type { GasPrices } from "@causeway/chains";
import type { LaneChain } from "../chains/chains.port.ts";
import { type DrainingKeys, signerOf } from "../chains/index.ts";
import type { Slot } from "../db/records.port.ts";
import type { Services, WorkerServices } from "../db/services.port.ts";
import { abandonedBytes } from "./abandoned-bytes.ts";
import { noopGas } from "./payers/sign-attempt.ts";
import { capFees, keyOf, limitsOfLane } from "./policy/lane-limits.ts";

type GapServices = DrainingKeys &
  Pick<Services, "events" | "reads" | "spendingLimits"> &
  Pick<WorkerServices, "journal">;

/** Maximum nonces filled per round. */
const MAX_GAP = 50;

/**
 * Fills nonces below the lane's open slots that were never allocated: the key was used elsewhere and a reorg
 * dropped that transaction, so nothing in the lane can be mined. The no-ops pay nothing and are not stored;
 * if the dropped transaction returns, nodes refuse them. Where the journal has a lost payment, its bytes are
 * broadcast again instead.
 * @param used the chain's transaction count of the sender
 * @param open the sender's open slots
 */
export async function fillNonceGap(
  services: GapServices,
  connected: LaneChain,
  {
    sender,
    used,
    prices,
  }: { readonly sender: Slot["sender"]; readonly used: number; readonly prices: GasPrices },
  open: readonly Slot[],
): Promise<void> {
  const { chain, connection } = connected;
  const first = open.reduce((min, { nonce }) => (nonce < min ? nonce : min), open[0]?.nonce ?? used);
  if (first <= used) return;
  const allocated = await services.reads.allocatedNonces(chain.id, sender, used, first);
  const abandoned = await abandonedBytes(services, { chainId: chain.id, sender }, used, first);
  const gasLimit = await noopGas(connected, sender);
  const signer = signerOf(services, sender);
  const key = keyOf(services, { chainId: chain.id, sender, leg: { kind: "noop" } });
  const fees = capFees(prices, limitsOfLane(services.spendingLimits, { key, chainId: chain.id }));
  for (let nonce = used; nonce < first && nonce < used + MAX_GAP; nonce++) {
    if (allocated.has(nonce)) continue;
    const lostBytes = abandoned.get(nonce);
    if (lostBytes !== undefined) {
      await connection.writer.broadcast(lostBytes);
      continue;
    }
    const { raw, hash } = await signTransaction(
      { chainId: chain.id, nonce, to: sender, data: "0x", value: 0n, gas: gasLimit, ...fees },
      (digest, preimage) => signer.signDigest(digest, preimage),
    );
    const { kind } = await connection.writer.broadcast(raw);
    services.events.alarm("nonce_gap_filled", {
      chain: chain.name,
      sender,
      nonce,
      txHash: hash,
      outcome: kind,
    });
  }
}
