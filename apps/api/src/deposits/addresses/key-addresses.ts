import { inconsistent, RpcFault, type NonEvmDepositAddresses, type SweepUnderWay } from "@causeway/chains";
import { raisedByBps, ServiceError, type Address, type Hex32 } from "@causeway/domain";
import { parseAccount } from "@causeway/families";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { ChainAddresses, HeldAmounts } from "./chain-addresses.ts";
import type { DepositAddress } from "./deposit-addresses.port.ts";
import { transferSweepCost } from "./sweep-gas.ts";
import { readSweepData, writeSweepData } from "./sweep-data.ts";

type Needs = Pick<Services, "reads">;

/** Addresses whose outputs are read at once. */
const AT_ONCE = 8;

/** Deposit addresses whose keys the service holds (Bitcoin). An address exists on the chain of its quote. */
export function keyAddresses(connected: ConnectedNonEvmChain): ChainAddresses {
  const { chain, connection, pulse } = connected;
  const { depositAddresses } = connection;
  return {
    mover: { kind: "solver", connected },
    isEnabled: depositAddresses !== undefined,
    onlyOn: chain.id,
    makesSeveralDeposits: false,
    // Its key is checked before each sweep.
    has: ({ quoted }) => depositAddresses !== undefined && quoted.chainId === chain.id,
    parse: (text) => {
      try {
        return parseAccount(chain, text, "address");
      } catch (error) {
        if (error instanceof ServiceError) return undefined;
        throw error;
      }
    },
    held: async (reads, addresses) =>
      depositAddresses === undefined
        ? { atBlock: 0n, held: [] }
        : await heldInOutputs({ reads }, connected, depositAddresses, addresses),
    lookBlock: async () => (await depositAddresses?.newest())?.number,
    sweepCall: ({ amount, orderId }, { key }) => ({
      to: chain.depository,
      data: writeSweepData({ orderId, keyId: key.id }),
      value: amount,
    }),
    confirmations: () => chain.confirmations,
    returnCost: (_, currency) => {
      const payment = pulse.paymentCost(currency.address);
      return raisedByBps(payment + transferSweepCost(payment), chain.fees.gasMarginBps);
    },
    // A payment does not show who owns it.
    findSender: async () => undefined,
  };
}

/** Sweeps of an address that are not final, as the connection asks for them. */
export async function sweepsUnderWay(
  { reads }: Needs,
  { chain, connection }: Pick<ConnectedNonEvmChain, "chain" | "connection">,
): Promise<ReadonlyMap<Hex32, readonly SweepUnderWay[]>> {
  const slots = await reads.unsettledSlots(chain.id, connection.solver);
  const sweeps = slots.filter(({ leg }) => leg.kind === "sweep");
  return new Map(
    [...Map.groupBy(sweeps, ({ call }) => readSweepData(call.data).keyId)].map(([keyId, own]) => [
      keyId,
      own.map(underWay),
    ]),
  );
}

function underWay({ attempts, state, minedAttempt }: Slot): SweepUnderWay {
  const mined = state === "mined" ? attempts.find(({ n }) => n === minedAttempt) : undefined;
  return { raws: attempts.map(({ raw }) => raw), minedTxId: mined?.txHash };
}

async function heldInOutputs(
  services: Needs,
  end: ConnectedNonEvmChain,
  depositAddresses: NonEvmDepositAddresses,
  addresses: readonly DepositAddress[],
): Promise<HeldAmounts> {
  const currency = end.chain.native.address;
  const tip = await depositAddresses.newest();
  const before = await sweepsUnderWay(services, end);
  const held: { account: Address; currency: Address; amount: bigint | undefined }[] = [];
  for (let at = 0; at < addresses.length; at += AT_ONCE)
    held.push(
      ...(await Promise.all(
        addresses.slice(at, at + AT_ONCE).map(async ({ address, key }) => {
          const sweeps = before.get(key.id) ?? [];
          // An explorer may refuse a single address: it must not delay the others.
          const amount = await depositAddresses.held(address, sweeps).catch((error: unknown) => {
            if (error instanceof RpcFault) return undefined;
            throw error;
          });
          return { account: address, currency, amount };
        }),
      )),
    );
  // A sweep signed in the meantime may have spent outputs that were not read.
  const after = await sweepsUnderWay(services, end);
  if ((await depositAddresses.newest()).hash !== tip.hash)
    throw inconsistent("getbestblockhash", "a block arrived while deposit addresses were read");
  const keys = new Map(addresses.map(({ address, key }) => [address, key.id]));
  const isSame = (id: Hex32 | undefined): boolean =>
    id === undefined || JSON.stringify(before.get(id)) === JSON.stringify(after.get(id));
  return {
    atBlock: tip.number,
    held: held.map((one) => (isSame(keys.get(one.account)) ? one : { ...one, amount: undefined })),
  };
}
