import { sweepCall } from "@causeway/chains";
import { confirmationsFor, depositAddressOf, gasCostWei, parseAddress } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { gasOf } from "../../markets/index.ts";
import type { ChainAddresses } from "./chain-addresses.ts";
import { findSender } from "./find-sender.ts";
import { sweepGasOf } from "./sweep-gas.ts";

/** Characters of a 20-byte address in hex, including 0x. */
const EVM_ADDRESS_LENGTH = 42;

/** Deposit addresses that are contracts of the chain's factory. */
export function contractAddresses(connected: ConnectedChain): ChainAddresses {
  const { chain, connection, pulse } = connected;
  const { fees } = chain;
  const { depositAddressFactory: factory } = chain.contracts;
  return {
    mover: { kind: "operator", connected },
    isEnabled: factory !== undefined,
    onlyChainId: undefined,
    makesSeveralDeposits: true,
    has: ({ address, key }) =>
      factory !== undefined &&
      address.length === EVM_ADDRESS_LENGTH &&
      depositAddressOf(factory, key) === address,
    parse: parseAddress,
    readBalances: async (_, addresses, { currencies, atBlock }) => {
      const accounts = addresses.map(({ address }) => address);
      return { atBlock, held: await connection.reader.accountBalances(accounts, currencies, atBlock) };
    },
    scanBlock: async (reads) => (await reads.cursor(chain.id))?.number,
    sweepCall: ({ currency, amount, excess, orderId }, { key }) => {
      if (factory === undefined) return undefined;
      const deposits = [{ amount, orderId }, ...(excess > 0n ? [{ amount: excess, orderId }] : [])];
      return sweepCall(factory, key, currency, deposits);
    },
    confirmations: (valueUsd) => confirmationsFor(chain.confirmationTiers, valueUsd),
    returnCost: ({ gas }, currency) =>
      gasCostWei(
        gasOf(gas.refund, currency, true) + sweepGasOf(currency.address),
        pulse.gasPrices(),
        fees.minPriorityFeeWei,
        fees.gasMarginBps,
      ),
    findSender: async (services, funds) => await findSender(services, connected, funds),
  };
}
