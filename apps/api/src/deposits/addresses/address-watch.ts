import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { DepositAddress, DepositAddressReads } from "./deposit-addresses.port.ts";
import type { AddressServices } from "./address-services.ts";
import { lookAtAddresses } from "./look-at-addresses.ts";

/**
 * Addresses that were given out, or that money came to, within this time are looked at with every block; ms.
 */
export const YOUNG_MS = 24 * 3600_000;
/**
 * Addresses of each kind that a look is for at most. What somebody can make many of waits for its turn, and
 * pushes nothing else out.
 */
export const MOST = {
  /** With money that is not decided about yet. */
  undecided: 500,
  /** Given out or paid lately, the newest first. */
  young: 500,
  /** Whose request waits for its money, in turns. */
  waiting: 400,
  /** All others, in turns. */
  quiet: 200,
} as const;

/** Looks at one chain's addresses, one round after the other. */
export interface AddressWatch {
  /** Looks once, at a block that the watcher has read. @throws RpcFault */
  look(atBlock: bigint): Promise<void>;
}

/** Where the turns go on. */
export interface Turns {
  readonly waiting: Address;
  readonly quiet: Address;
}

/** Which addresses a look is for, and where the turns of the next one go on. */
export interface Turn {
  readonly addresses: readonly DepositAddress[];
  readonly after: Turns;
}

/**
 * Chooses the addresses of one look: those with undecided money and the young ones with every block, all
 * others in the order of the addresses. However many are given out, each has its turn.
 * @param after where the last turns ended
 */
export async function nextTurn(
  reads: Pick<DepositAddressReads, "undecided" | "active" | "waiting" | "quiet">,
  chainId: number,
  nowMs: number,
  after: Turns,
): Promise<Turn> {
  const [undecided, young, waiting, quiet] = await Promise.all([
    reads.undecided(chainId, MOST.undecided),
    reads.active(nowMs - YOUNG_MS, MOST.young),
    reads.waiting(after.waiting, MOST.waiting),
    reads.quiet(after.quiet, MOST.quiet),
  ]);
  const chosen = [...undecided, ...young, ...waiting, ...quiet];
  return {
    addresses: [...new Map(chosen.map((one) => [one.address, one])).values()],
    after: { waiting: endOf(waiting, MOST.waiting), quiet: endOf(quiet, MOST.quiet) },
  };
}

/** Where the next turn begins: behind these, or at the first again. */
function endOf(turn: readonly DepositAddress[], most: number): Address {
  return turn.length < most ? "0x" : (turn.at(-1)?.address ?? "0x");
}

/** One for each chain, in the process that watches the chain. What it remembers only says where to go on. */
export function createAddressWatch(services: AddressServices, connected: ConnectedChain): AddressWatch {
  const { chain } = connected;
  const currencies = [NATIVE_CURRENCY, ...chain.tokens.map(({ address }) => address)];
  let lookedAt = new Map<Address, bigint>();
  // Somewhere: a process that is started often must not look at the same ones for ever.
  const start: Address = `0x${(services.clock.nowMs() % 256).toString(16).padStart(2, "0")}`;
  let after: Turns = { waiting: start, quiet: start };
  return {
    async look(atBlock) {
      if (chain.contracts.depositAddressFactory === undefined) return;
      const turn = await nextTurn(services.depositAddresses, chain.id, services.clock.nowMs(), after);
      const { addresses } = turn;
      after = turn.after;
      const { missed } = await lookAtAddresses(services, connected, {
        addresses,
        currencies,
        atBlock,
        lookedAt,
      });
      // Where something was missed, who sent it is looked for from the last whole look on.
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
