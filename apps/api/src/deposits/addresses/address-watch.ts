import type { Address } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { DepositAddress, DepositAddressReads } from "./deposit-addresses.port.ts";
import { addressesOn } from "./addresses-on.ts";
import type { AddressServices } from "./address-services.ts";
import { scanAddresses } from "./watch-balances.ts";

/** Addresses that were issued or paid within this time (ms) are scanned with every block. */
export const YOUNG_MS = 24 * 3600_000;
/**
 * Addresses of each kind per round. A kind that anyone can create in bulk takes turns, so that it displaces
 * no other.
 */
export const MAX_PER_ROUND = {
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
  /** Scans the addresses of one round at a block that the watcher has read. @throws RpcFault */
  scan(atBlock: bigint): Promise<void>;
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
 * Chooses the addresses of one round: always addresses with undecided funds and young addresses, and all
 * other addresses in turn, by address. Every address gets its turn, regardless of how many are issued.
 * @param after where the last turns ended
 * @param nonEvmChainId a non-EVM chain; absent: EVM chains
 */
export async function nextTurn(
  reads: Pick<DepositAddressReads, "undecided" | "active" | "waiting" | "quiet">,
  chainId: number,
  nowMs: number,
  after: Turns,
  nonEvmChainId?: number,
): Promise<Turn> {
  const quiet = await reads.quiet(after.quiet, MAX_PER_ROUND.quiet, nonEvmChainId);
  // Usually there are few, and this turn has all of them.
  if (after.quiet === FIRST && quiet.length < MAX_PER_ROUND.quiet)
    return { addresses: quiet, after: { waiting: FIRST, quiet: FIRST } };
  const [undecided, young, waiting] = await Promise.all([
    reads.undecided(chainId, MAX_PER_ROUND.undecided),
    reads.active(nowMs - YOUNG_MS, MAX_PER_ROUND.young, nonEvmChainId),
    reads.waiting(after.waiting, MAX_PER_ROUND.waiting, nonEvmChainId),
  ]);
  const chosen = [...undecided, ...young, ...waiting, ...quiet];
  return {
    addresses: [...new Map(chosen.map((address) => [address.address, address])).values()],
    after: { waiting: endOf(waiting, MAX_PER_ROUND.waiting), quiet: endOf(quiet, MAX_PER_ROUND.quiet) },
  };
}

/** Where the next turn starts: after these addresses, or at the first address again. */
function endOf(turn: readonly DepositAddress[], limit: number): Address {
  return turn.length < limit ? FIRST : (turn.at(-1)?.address ?? FIRST);
}

/** One per chain, in the process that watches the chain. Its memory only holds where to continue. */
export function createAddressWatch(services: AddressServices, connected: AnyConnectedChain): AddressWatch {
  const { chain } = connected;
  const currencies = [chain.native.address, ...chain.tokens.map(({ address }) => address)];
  const { isEnabled, onlyChainId } = addressesOn(connected);
  let scannedAt = new Map<Address, bigint>();
  // A varying start: a process that restarts often must not scan the same addresses forever.
  const start: Address = `0x${(services.clock.nowMs() % 256).toString(16).padStart(2, "0")}`;
  let after: Turns = { waiting: start, quiet: start };
  return {
    async scan(atBlock) {
      if (!isEnabled) return;
      const turn = await nextTurn(
        services.depositAddresses,
        chain.id,
        services.clock.nowMs(),
        after,
        onlyChainId,
      );
      const { addresses } = turn;
      after = turn.after;
      const { missed } = await scanAddresses(services, connected, {
        addresses,
        currencies,
        atBlock,
        scannedAt,
      });
      // If a balance was missed, its sender is searched for since the last complete round.
      const before = scannedAt;
      scannedAt = new Map(
        addresses.flatMap(({ address }) => {
          const block = missed.has(address) ? before.get(address) : atBlock;
          return block === undefined ? [] : [[address, block]];
        }),
      );
    },
  };
}
