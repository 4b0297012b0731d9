import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../../ports/chains.ts";
import type { DepositAddress, DepositAddressReads } from "../../ports/deposit-addresses.ts";
import type { AddressServices } from "./address-services.ts";
import { lookAtAddresses } from "./look-at-addresses.ts";

/** Addresses that were given out, used or asked about within this time are looked at with every block; ms. */
export const YOUNG_MS = 24 * 3600_000;
/** Of those as many, the newest first. */
const MOST_YOUNG = 1_000;
/** Of all others as many with every block, in turns: the more there are, the longer a turn takes. Who cannot wait asks for a look. */
const QUIET_AT_ONCE = 200;

/** Looks at one chain's addresses, one round after the other. */
export interface AddressWatch {
  /** Looks once, at a block that the watcher has read. @throws RpcFault */
  look(atBlock: bigint): Promise<void>;
}

/** Which addresses a look is for, and where the turns of the others go on. */
export interface Turn {
  readonly addresses: readonly DepositAddress[];
  readonly after: Address;
}

/**
 * The young ones, and some of the others in the order of the addresses. Who is crowded out of the young ones, by however many that are given out, gets its turn among the others.
 * @param after where the last turn ended
 */
export async function nextTurn(
  reads: Pick<DepositAddressReads, "active" | "quiet">,
  nowMs: number,
  after: Address,
): Promise<Turn> {
  const young = await reads.active(nowMs - YOUNG_MS, MOST_YOUNG);
  const oldest = young.at(-1);
  const isCrowded = young.length === MOST_YOUNG && oldest !== undefined;
  // Several may be of the same moment: those are looked at twice, and none is left out.
  const beforeMs = isCrowded ? oldest.activeAtMs + 1 : nowMs - YOUNG_MS;
  const quiet = await reads.quiet(beforeMs, after, QUIET_AT_ONCE);
  const last = quiet.at(-1);
  return {
    addresses: [...young, ...quiet],
    after: quiet.length < QUIET_AT_ONCE || last === undefined ? "0x" : last.address,
  };
}

/** One for each chain, in the process that watches the chain. What it remembers only says where to go on. */
export function createAddressWatch(services: AddressServices, connected: ConnectedChain): AddressWatch {
  const { chain } = connected;
  const currencies = [NATIVE_CURRENCY, ...chain.tokens.map(({ address }) => address)];
  let lookedAt = new Map<Address, bigint>();
  // Somewhere: a process that is started often must not look at the same ones for ever.
  let after: Address = `0x${(services.clock.nowMs() % 256).toString(16).padStart(2, "0")}`;
  return {
    async look(atBlock) {
      if (chain.contracts.depositAddressFactory === undefined) return;
      const turn = await nextTurn(services.depositAddresses, services.clock.nowMs(), after);
      const { addresses } = turn;
      after = turn.after;
      await lookAtAddresses(services, connected, { addresses, currencies, atBlock, lookedAt });
      lookedAt = new Map(addresses.map(({ address }) => [address, atBlock]));
    },
  };
}
