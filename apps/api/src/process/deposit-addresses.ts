import type { OrderId } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { createCodeCache } from "../chains/code-cache.adapter.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { depositAddressGauges } from "../telemetry/deposit-address-gauges.ts";
import type { BesideScan } from "../watch/watch-chain.job.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { DepositAddressRoutes } from "../deposits/addresses/deposit-address-routes.port.ts";
import type { DepositAddressReads } from "../deposits/addresses/deposit-addresses.port.ts";
import type { Services } from "../db/services.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import { agreeOn } from "../quotes/create-quote.ts";
import type { QuoteServices } from "../quotes/create-quote.ts";
import { createAddressWatch } from "../deposits/addresses/address-watch.ts";
import type { AddressServices } from "../deposits/addresses/address-services.ts";
import { lookUpAddress } from "../deposits/addresses/look-up-address.ts";
import { reindexAddress } from "../deposits/addresses/reindex-address.ts";
import { reconcileSweeps } from "../payments/reconcile-sweeps.ts";

/** How old the shared facts of quotes may be. */
const POLLED_EVERY_MS = 1_000;

/** What is given to whoever looks at addresses: a quote's services, without anything to store quotes with. */
export function addressServices(
  services: Services & { readonly depositAddresses: DepositAddressReads },
  quoting: Pick<QuoteServices, "reservations" | "recipientCodes" | "random">,
): AddressServices {
  const solver = services.signer.address;
  const quotes: QuoteServices = {
    ...services,
    ...quoting,
    solver,
    requests: { insertQuoted: async () => undefined },
    timings: { estimateSeconds: () => 0 },
    signOrder: async (orderId: OrderId) => orderId,
  };
  return {
    ...services,
    random: quoting.random,
    solver,
    agreeOn: (input, keyId) => agreeOn(quotes, input, keyId),
  };
}

/**
 * What routes can ask of deposit addresses: a look is taken in this process, what it leads to is done by the
 * workers.
 */
export function depositAddressRoutes(
  services: Services,
  quoting: Pick<QuoteServices, "reservations" | "recipientCodes" | "random"> & { readonly tokens: TokenBook },
): DepositAddressRoutes {
  const { depositAddresses } = services;
  if (depositAddresses === undefined) throw new RangeError("the API reads deposit addresses");
  const looking = {
    ...addressServices({ ...services, depositAddresses }, quoting),
    tokens: quoting.tokens,
  };
  return {
    reindex: (wish) => reindexAddress(looking, wish),
    lookUp: (by, askerKeyId) => lookUpAddress(looking, by, askerKeyId),
  };
}

/** What a worker does for deposit addresses. */
export interface AddressWork {
  /** Of each new head, beside the scan of a chain. */
  readonly beside: (connected: ConnectedChain) => BesideScan;
  /** On a timer: sweeps that lost their job get another. */
  readonly reconcile: () => Promise<void>;
}

/** Watches deposit addresses in the worker. Without an operator key there are none. */
export async function startDepositAddresses(
  services: Services,
  {
    connected,
    lifecycle,
    registry,
  }: {
    readonly connected: readonly ConnectedChain[];
    readonly lifecycle: Lifecycle;
    readonly registry: Registry;
  },
): Promise<AddressWork> {
  const { depositAddresses, events, clock } = services;
  if (depositAddresses === undefined || services.depositAddressOperator === undefined)
    return { beside: () => async () => undefined, reconcile: async () => undefined };
  const polled = await pollFacts(
    services.reads,
    events,
    connected.map(({ chain }) => chain.id),
    POLLED_EVERY_MS,
  );
  lifecycle.add("polled facts of deposit addresses", () => polled.close());
  const watching = addressServices(
    { ...services, depositAddresses },
    {
      reservations: { reserved: polled.reserved },
      recipientCodes: createCodeCache(services.chains),
      random: pooledRandomBytes(),
    },
  );
  depositAddressGauges(registry, depositAddresses, services.chains, clock);
  return {
    beside: (one) => {
      const watch = createAddressWatch(watching, one);
      return (atBlock) => watch.look(atBlock);
    },
    reconcile: () => reconcileSweeps(watching),
  };
}
