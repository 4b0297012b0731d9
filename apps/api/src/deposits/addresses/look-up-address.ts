import { NATIVE_CURRENCY, parseAddress, type Address, type RequestId, type TxHash } from "@causeway/domain";
import { formatAddress, formatTransactionId } from "@causeway/families";
import type { DepositAddressAnswer } from "@causeway/wire";
import type { DepositAddress, DepositAddressReads } from "./deposit-addresses.port.ts";
import type { Services } from "../../db/services.port.ts";
import { invalidAddress } from "../../http/refusals.ts";
import { everyConnectedChain } from "../../http/connected-chain.ts";
import { addressesOn } from "./addresses-on.ts";

/** Maximum deposits shown per address. */
const MAX_DEPOSITS = 100;

type Needs = Pick<Services, "chains" | "reads"> & { readonly depositAddresses: DepositAddressReads };

/**
 * Describes an address and its deposits. Undefined: it was not issued here.
 * @throws ServiceError INVALID_ADDRESS for a text that is not an address
 */
export async function lookUpAddress(
  services: Needs,
  lookup: { readonly address: string } | { readonly requestId: RequestId },
  keyId: string | undefined,
): Promise<DepositAddressAnswer | undefined> {
  const { depositAddresses, reads } = services;
  const depositAddress =
    "address" in lookup
      ? await depositAddresses.find(readAddress(services, lookup.address))
      : await depositAddresses.findByRequest(lookup.requestId);
  if (depositAddress === undefined) return undefined;
  const [funds, sweeps, first, status] = await Promise.all([
    depositAddresses.fundsAt(depositAddress.address),
    depositAddresses.sweepsFrom(depositAddress.address, MAX_DEPOSITS),
    reads.request(depositAddress.requestId),
    reads.status(depositAddress.requestId),
  ]);
  if (first === undefined) return undefined;
  const { origin, destination, recipient } = first.terms;
  const isOwnKey = keyId !== undefined && keyId === depositAddress.keyId;
  const formatOn = (chainId: number, bytes: Address): string => {
    const chain = services.chains.profile(chainId);
    return chain === undefined ? bytes : formatAddress(chain, bytes);
  };
  const transactionOn = (chainId: number, txHash: TxHash): string => {
    const chain = services.chains.profile(chainId);
    return chain === undefined ? txHash : formatTransactionId(chain, txHash);
  };
  const onDestination = (bytes: Address) => formatOn(destination.chainId, bytes);
  const onOrigin = (bytes: Address) => formatOn(origin.chainId, bytes);
  // The first transaction from an address publishes its key on chain.
  const isSwept = sweeps.some(({ state }) => state === "mined" || state === "final");
  return {
    ...keyFields(depositAddress, isOwnKey || isSwept, onOrigin),
    requestId: depositAddress.requestId,
    supersededByRequestId: status?.supersededBy ?? null,
    chainId: origin.chainId,
    originChainId: origin.chainId,
    currency: services.chains.currency(origin.chainId, origin.currency)?.id ?? null,
    originCurrency: onOrigin(origin.currency),
    destinationChainId: destination.chainId,
    destinationCurrency: onDestination(destination.currency),
    recipient: onDestination(recipient),
    chainIds: everyConnectedChain(services.chains).flatMap((connected) =>
      addressesOn(connected).has(depositAddress) ? [connected.chain.id] : [],
    ),
    createdAt: iso(depositAddress.createdAtMs),
    activeAt: iso(depositAddress.activeAtMs),
    funds: [
      ...funds.map(({ chainId, currency, amount, seenAtMs, held }) => ({
        chainId,
        currency: formatOn(chainId, currency),
        amount: amount.toString(),
        seenAt: iso(seenAtMs),
        heldReason: held ?? null,
        requestId: null,
      })),
      // Until the sweep is mined, its funds are at the address.
      ...sweeps.flatMap(({ chainId, currency, amount, excess, arrivedAtMs, requestId, state }) =>
        state === "planned" || state === "sent"
          ? [
              {
                chainId,
                currency: formatOn(chainId, currency),
                amount: (amount + excess).toString(),
                seenAt: iso(arrivedAtMs),
                heldReason: null,
                requestId,
              },
            ]
          : [],
      ),
    ],
    deposits: sweeps.map(({ requestId, chainId, currency, amount, excess, state, txHash, createdAtMs }) => ({
      requestId,
      chainId,
      currency: formatOn(chainId, currency),
      amount: (amount + excess).toString(),
      status: state,
      depositTxHash: txHash === undefined ? null : transactionOn(chainId, txHash),
      createdAt: iso(createdAtMs),
    })),
  };
}

/** @throws ServiceError INVALID_ADDRESS */
function readAddress({ chains }: Needs, text: string): Address {
  for (const connected of everyConnectedChain(chains)) {
    const { isEnabled, parse } = addressesOn(connected);
    const address = isEnabled ? parse(text) : undefined;
    if (address !== undefined) return address;
  }
  const address = parseAddress(text);
  if (address === undefined) throw invalidAddress("address");
  return address;
}

function keyFields(
  { address, key, strict, refundTo }: DepositAddress,
  showsKey: boolean,
  format: (account: Address) => string,
): Pick<
  DepositAddressAnswer,
  | "depositAddress"
  | "address"
  | "type"
  | "depositAddressType"
  | "orderId"
  | "depositor"
  | "recoveryAddress"
  | "refundTo"
> {
  const type = strict ? "strict" : "open";
  return {
    depositAddress: format(address),
    address: format(address),
    type,
    depositAddressType: type,
    orderId: showsKey ? key.id : null,
    depositor: showsKey ? format(key.depositor) : null,
    recoveryAddress: !showsKey || key.recovery === NATIVE_CURRENCY ? null : key.recovery,
    refundTo: refundTo === "nobody" ? null : refundTo === "sender" ? NATIVE_CURRENCY : format(refundTo),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
