import { formatAddress, NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, RequestId } from "@causeway/domain";
import type { DepositAddressAnswer } from "@causeway/wire";
import type { DepositAddress, DepositAddressReads } from "./deposit-addresses.port.ts";
import type { Services } from "../../db/services.port.ts";
import { isAddressOn } from "./address-on.ts";

/** Maximum deposits shown per address. */
const MAX_DEPOSITS = 100;

type Needs = Pick<Services, "chains" | "reads"> & { readonly depositAddresses: DepositAddressReads };

/** Describes an address and its deposits. Undefined: it was not issued here. */
export async function lookUpAddress(
  services: Needs,
  by: { readonly address: Address } | { readonly requestId: RequestId },
  askerKeyId: string | undefined,
): Promise<DepositAddressAnswer | undefined> {
  const { depositAddresses, reads } = services;
  const found =
    "address" in by
      ? await depositAddresses.find(by.address)
      : await depositAddresses.findByRequest(by.requestId);
  if (found === undefined) return undefined;
  const [funds, sweeps, first, status] = await Promise.all([
    depositAddresses.fundsAt(found.address),
    depositAddresses.sweepsFrom(found.address, MAX_DEPOSITS),
    reads.request(found.requestId),
    reads.status(found.requestId),
  ]);
  if (first === undefined) return undefined;
  const { origin, destination, recipient } = first.terms;
  const isItsKey = askerKeyId !== undefined && askerKeyId === found.keyId;
  const chain = services.chains.profile(destination.chainId);
  const format = (bytes: Address) => (chain === undefined ? bytes : formatAddress(chain, bytes));
  // The first transaction from an address publishes its key on chain.
  const isSwept = sweeps.some(({ state }) => state === "mined" || state === "final");
  return {
    ...ofKey(found, isItsKey || isSwept),
    requestId: found.requestId,
    supersededByRequestId: status?.supersededBy ?? null,
    chainId: origin.chainId,
    originChainId: origin.chainId,
    currency: services.chains.currency(origin.chainId, origin.currency)?.id ?? null,
    originCurrency: origin.currency,
    destinationChainId: destination.chainId,
    destinationCurrency: format(destination.currency),
    recipient: format(recipient),
    chainIds: services.chains.all.flatMap(({ chain }) => (isAddressOn(chain, found) ? [chain.id] : [])),
    createdAt: iso(found.createdAtMs),
    activeAt: iso(found.activeAtMs),
    funds: [
      ...funds.map(({ chainId, currency, amount, seenAtMs, held }) => ({
        chainId,
        currency,
        amount: amount.toString(),
        seenAt: iso(seenAtMs),
        heldReason: held ?? null,
        requestId: null,
      })),
      // Until its transaction is mined, the money is at the address.
      ...sweeps.flatMap(({ chainId, currency, amount, excess, arrivedAtMs, requestId, state }) =>
        state === "planned" || state === "sent"
          ? [
              {
                chainId,
                currency,
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
      currency,
      amount: (amount + excess).toString(),
      status: state,
      depositTxHash: txHash ?? null,
      createdAt: iso(createdAtMs),
    })),
  };
}

function ofKey(
  { address, key, strict, refundTo }: DepositAddress,
  showsKey: boolean,
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
    depositAddress: address,
    address,
    type,
    depositAddressType: type,
    orderId: showsKey ? key.id : null,
    depositor: showsKey ? key.depositor : null,
    recoveryAddress: !showsKey || key.recovery === NATIVE_CURRENCY ? null : key.recovery,
    refundTo: refundTo === "nobody" ? null : refundTo === "sender" ? NATIVE_CURRENCY : refundTo,
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
