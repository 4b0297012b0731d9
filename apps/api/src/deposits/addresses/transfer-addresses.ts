import type { NonEvmDepositAddresses, UnsettledSweep } from "@causeway/chains";
import { raisedByBps, ServiceError, type Address, type Hex32 } from "@causeway/domain";
import { parseAccount } from "@causeway/families";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { ChainAddresses, AddressBalances } from "./chain-addresses.ts";
import type { DepositAddress } from "./deposit-addresses.port.ts";
import { transferSweepCost } from "./sweep-gas.ts";
import { readSweepData, writeProgramSweep, writeSweepData } from "./sweep-data.ts";

type Needs = Pick<Services, "reads">;

/**
 * Deposit addresses that the solver sweeps: addresses of a program (Solana), or with keys of the service
 * (Bitcoin). An address exists on the chain of its quote.
 */
export function transferAddresses(connected: ConnectedNonEvmChain): ChainAddresses {
  const { chain, connection, pulse } = connected;
  const { depositAddresses } = connection;
  const isProgram = depositAddresses?.kind === "program";
  return {
    mover: { kind: "solver", connected },
    isEnabled: depositAddresses !== undefined,
    onlyChainId: chain.id,
    makesSeveralDeposits: isProgram,
    // The inputs of the address derivation are checked before each sweep.
    has: ({ quoted }) => depositAddresses !== undefined && quoted.chainId === chain.id,
    parse: (text) => {
      try {
        return parseAccount(chain, text, "address");
      } catch (error) {
        if (error instanceof ServiceError) return undefined;
        throw error;
      }
    },
    readBalances: async (reads, addresses, { currencies }) =>
      depositAddresses === undefined
        ? { atBlock: 0n, held: [] }
        : await heldAt({ reads }, connected, depositAddresses, addresses, currencies),
    scanBlock: async () => (await depositAddresses?.newest())?.number,
    sweepCall: ({ amount, excess, orderId }, { key }) => ({
      to: chain.depository,
      data: isProgram
        ? writeProgramSweep({ orderId, key, excess })
        : writeSweepData({ orderId, keyId: key.id }),
      value: amount,
    }),
    // Balances of program addresses are read from finalized blocks.
    confirmations: () => (isProgram ? 1 : chain.confirmations),
    returnCost: (_, currency) => {
      const sweep = transferSweepCost(connected);
      return raisedByBps(pulse.paymentCost(currency.address) + sweep, chain.fees.gasMarginBps);
    },
    // A payment does not show who owns it: an exchange pays many users from one account.
    findSender: async () => undefined,
  };
}

/** Sweeps that are not final, by the `key.id` of their address. */
export async function sweepsUnderWay(
  { reads }: Needs,
  { chain, connection }: Pick<ConnectedNonEvmChain, "chain" | "connection">,
): Promise<ReadonlyMap<Hex32, readonly UnsettledSweep[]>> {
  const slots = await reads.unsettledSlots(chain.id, connection.solver);
  const sweeps = slots.filter(({ leg }) => leg.kind === "sweep");
  return new Map(
    [...Map.groupBy(sweeps, ({ call }) => readSweepData(call.data).key.id)].map(([keyId, slotsOfKey]) => [
      keyId,
      slotsOfKey.map(toUnsettledSweep),
    ]),
  );
}

function toUnsettledSweep({ attempts, state, minedAttempt }: Slot): UnsettledSweep {
  const mined = state === "mined" ? attempts.find(({ n }) => n === minedAttempt) : undefined;
  return { raws: attempts.map(({ raw }) => raw), minedTxId: mined?.txHash };
}

async function heldAt(
  services: Needs,
  connected: ConnectedNonEvmChain,
  depositAddresses: NonEvmDepositAddresses,
  addresses: readonly DepositAddress[],
  currencies: readonly Address[],
): Promise<AddressBalances> {
  const before = await sweepsUnderWay(services, connected);
  const { atBlock, balances: held } = await depositAddresses.balances(
    addresses.map(({ address, key }) => ({ address, sweeps: before.get(key.id) ?? [] })),
    currencies,
  );
  // A sweep that was signed in the meantime may have taken funds that were not read.
  const after = await sweepsUnderWay(services, connected);
  const keys = new Map(addresses.map(({ address, key }) => [address, key.id]));
  const isSame = (id: Hex32 | undefined): boolean =>
    id === undefined || JSON.stringify(before.get(id)) === JSON.stringify(after.get(id));
  return {
    atBlock,
    held: held.map((balance) =>
      isSame(keys.get(balance.account)) ? balance : { ...balance, amount: undefined },
    ),
  };
}
