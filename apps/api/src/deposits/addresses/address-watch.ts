import type { Address } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import type { DepositAddress, DepositAddressReads } from "./deposit-addresses.port.ts";
import { addressesOn } from "./addresses-on.ts";
import type { AddressServices } from "./address-services.ts";
import { lookAtAddresses } from "./watch-balances.ts";

/** Addresses that were issued or paid within this time (ms) are looked at with every block. */
export const YOUNG_MS = 24 * 3600_000;
/**
 * Addresses of each kind per round. A kind that anyone can create in bulk takes turns, so that it displaces
 * no other.
 */
export const MAX_PER_LOOK = {
  /** With funds that are not decided yet. */
  undecided: 500,
  /** Issued or paid recently, newest first. */
  young: 500,
  /** Whose request waits for its deposit, in turns. */
  waiting: 400,
  /** All others, in turns. */
  quiet: 200,
} as const;

/** Checks one chain's addresses, round by round. */
export interface AddressWatch {
  /** Looks once, at a block that the watcher has read. @throws RpcFault */
  look(atBlock: bigint): Promise<void>;
}

/** Where the next turns start. */
export interface Turns {
  readonly waiting: Address;
  readonly quiet: Address;
}

/** Sorts before every address. */
const FIRST: Address = "0x";

/** The addresses of one round, and where the next round starts. */
export interface Turn {
  readonly addresses: readonly DepositAddress[];
  readonly after: Turns;
}

/**
 * Chooses the addresses of one round: those with undecided funds and young ones always, all others in address
 * order. Every address gets its turn, regardless of how many are issued.
 * @param after where the last turns ended
 * @param on a non-EVM chain; absent: EVM chains
 */
export async function nextTurn(
  reads: Pick<DepositAddressReads, "undecided" | "active" | "waiting" | "quiet">,
  chainId: number,
  nowMs: number,
  after: Turns,
  on?: number,
): Promise<Turn> {
  const quiet = await reads.quiet(after.quiet, MAX_PER_LOOK.quiet, on);
  // Usually there are few, and this turn has all of them.
  if (after.quiet === FIRST && quiet.length < MAX_PER_LOOK.quiet)
    return { addresses: quiet, after: { waiting: FIRST, quiet: FIRST } };
  const [undecided, young, waiting] = await Promise.all([
    reads.undecided(chainId, MAX_PER_LOOK.undecided),
    reads.active(nowMs - YOUNG_MS, MAX_PER_LOOK.young, on),
    reads.waiting(after.waiting, MAX_PER_LOOK.waiting, on),
  ]);
  const chosen = [...undecided, ...young, ...waiting, ...quiet];
  return {
    addresses: [...new Map(chosen.map((one) => [one.address, one])).values()],
    after: { waiting: endOf(waiting, MAX_PER_LOOK.waiting), quiet: endOf(quiet, MAX_PER_LOOK.quiet) },
  };
}

/** Where the next turn starts: after these addresses, or at the first one again. */
function endOf(turn: readonly DepositAddress[], limit: number): Address {
  return turn.length < limit ? FIRST : (turn.at(-1)?.address ?? FIRST);
}

/** One per chain, in the process that watches the chain. Its memory only holds where to continue. */
export function createAddressWatch(services: AddressServices, connected: RequestEnd): AddressWatch {
  const { chain } = connected;
  const currencies = [chain.native.address, ...chain.tokens.map(({ address }) => address)];
  const { isEnabled, onlyOn } = addressesOn(connected);
  let lookedAt = new Map<Address, bigint>();
  // A varying start: a process that restarts often must not look at the same addresses forever.
  const start: Address = `0x${(services.clock.nowMs() % 256).toString(16).padStart(2, "0")}`;
  let after: Turns = { waiting: start, quiet: start };
  return {
    async look(atBlock) {
      if (!isEnabled) return;
      const turn = await nextTurn(services.depositAddresses, chain.id, services.clock.nowMs(), after, onlyOn);
      const { addresses } = turn;
      after = turn.after;
      const { missed } = await lookAtAddresses(services, connected, {
        addresses,
        currencies,
        atBlock,
        lookedAt,
      });
      // If a balance was missed, its sender is searched for since the last complete round.
      const before = lookedAt;
      lookedAt = new Map(
        addresses.flatMap(({ address }) => {
          const block = missed.has(address) ? before.get(address) : atBlock;
          return block === undefined ? [] : [[address, block]];
        }),
      );
    },
  };
}
