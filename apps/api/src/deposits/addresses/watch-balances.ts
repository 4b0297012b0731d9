import { amountToUsdDown, confirmedPart, readBalance } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { placeKey } from "./deposit-addresses.port.ts";
import type { DepositAddress, CurrencyAt, ObservedFunds } from "./deposit-addresses.port.ts";
import { actOnFunds } from "./act-on-funds.ts";
import { addressesOn } from "./addresses-on.ts";
import type { AddressServices } from "./address-services.ts";
import { priceOf } from "./return-facts.ts";
import { loadReportRule } from "./load-report-rule.ts";

/** Maximum balances of unconfigured tokens kept per address and chain. */
export const MAX_UNLISTED = 10;

const BEYOND_ALL_TIERS = 2n ** 255n;

/** What to read on one chain. */
export interface AddressScan {
  readonly addresses: readonly DepositAddress[];
  readonly currencies: readonly Address[];
  /** A block that the watcher has read; non-EVM chains are read at their newest block. */
  readonly atBlock: bigint;
  /** The block at which each address was last read. */
  readonly scannedAt?: ReadonlyMap<Address, bigint> | undefined;
}

/** The result of a scan. */
export interface ScanResult {
  /** Funds that no sweep is moving. */
  readonly found: readonly (CurrencyAt & { readonly amount: bigint })[];
  /** Tokens whose balance could not be read. */
  readonly failed: readonly CurrencyAt[];
  /** Addresses whose balances were not fully read or stored. */
  readonly missed: ReadonlySet<Address>;
}

/**
 * Reads balances at deposit addresses on one chain, and decides about funds that have enough confirmations
 * for their value. Excludes funds in sweeps; writes nothing if nothing changed.
 * @throws RpcFault; a decision that fails is reported as a fault and retried with the next scan
 */
export async function scanAddresses(
  services: AddressServices,
  connected: AnyConnectedChain,
  { addresses, currencies, atBlock: requestedBlock, scannedAt }: AddressScan,
): Promise<ScanResult> {
  const { chain } = connected;
  const chainAddresses = addressesOn(connected);
  const watched = new Map(
    addresses.filter(chainAddresses.has).map((address) => [address.address, address] as const),
  );
  const watchedAddresses = [...watched.keys()];
  if (watchedAddresses.length === 0) return { found: [], failed: [], missed: new Set() };
  // Reads only requested and quoted currencies: another token could use all gas of the shared balance call.
  const { held, atBlock } = await chainAddresses.readBalances(services.reads, [...watched.values()], {
    currencies: [...new Set([...currencies, ...quotedCurrencies(chain, watched)])],
    atBlock: requestedBlock,
  });
  const failed: CurrencyAt[] = [];
  const balances: Balance[] = [];
  for (const { account: address, currency, amount } of held) {
    const place = { address, chainId: chain.id, currency };
    if (amount === undefined) failed.push(place);
    else balances.push({ ...place, amount });
  }
  const [underWay, storedFunds] = await Promise.all([
    services.depositAddresses.underWay(chain.id, watchedAddresses, atBlock),
    services.depositAddresses.funds(chain.id, watchedAddresses),
  ]);
  const storedByPlace = new Map(storedFunds.map((funds) => [placeKey(funds.address, funds.currency), funds]));
  const found = balances.map((place) => ({ ...place, amount: unsweptOf(place, underWay) }));
  const changed = balances.filter((place) => {
    const { amount = 0n } = storedByPlace.get(placeKey(place.address, place.currency)) ?? {};
    return amount !== unsweptOf(place, underWay);
  });
  const unstored = await storeFunds(services, connected, watched, changed, { atBlock, scannedAt });
  const current =
    changed.length === 0 ? storedFunds : await services.depositAddresses.funds(chain.id, watchedAddresses);
  const queryUntilMs = performance.now() + MAX_QUERY_MS;
  for (const funds of rotate(current, atBlock)) {
    const depositAddress = watched.get(funds.address);
    // Funds that do not cover a fast fill are decided again whenever the fast fill changes.
    const isDecided = funds.held !== undefined && funds.held !== "FAST_FILL_NOT_COVERED";
    if (depositAddress === undefined || isDecided || unstored.has(funds.address)) continue;
    const confirmedAmount = await confirmedOf(services, connected, funds, atBlock);
    if (confirmedAmount === 0n) continue;
    try {
      await actOnFunds(services, connected, depositAddress, { funds, confirmedAmount, queryUntilMs });
    } catch (error) {
      // One address's fault must not delay the others.
      services.events.fault("deposit_address_fault", error, { chain: chain.name, address: funds.address });
    }
  }
  return {
    found: found.filter(({ amount, currency }) => amount > 0n && currencies.includes(currency)),
    failed: failed.filter(({ currency }) => currencies.includes(currency)),
    missed: new Set([...unstored, ...failed.map(({ address }) => address)]),
  };
}

/** The quoted currencies of the addresses: still read if they were removed from the configuration since. */
function quotedCurrencies(
  { id }: { readonly id: number },
  watched: ReadonlyMap<Address, DepositAddress>,
): readonly Address[] {
  return [...watched.values()].flatMap(({ quoted }) => (quoted?.chainId === id ? [quoted.currency] : []));
}

/** How long one round may query rate-limited chains about recipients. */
const MAX_QUERY_MS = 5_000;

/** Each round begins at another address, so that each gets its turn to query the chain. */
function rotate<T>(all: readonly T[], atBlock: bigint): readonly T[] {
  if (all.length === 0) return all;
  const first = Number(atBlock % BigInt(all.length));
  return [...all.slice(first), ...all.slice(0, first)];
}

type Balance = CurrencyAt & { readonly amount: bigint };

function unsweptOf({ address, currency, amount }: Balance, underWay: ReadonlyMap<string, bigint>): bigint {
  const unswept = amount - (underWay.get(placeKey(address, currency)) ?? 0n);
  return unswept > 0n ? unswept : 0n;
}

/**
 * Stores the changed funds. Subtracts sweeps again under the lock of the address: funds of a sweep planned
 * since the balances were read must not count as new.
 * @returns the addresses whose funds could not be stored
 */
async function storeFunds(
  services: AddressServices,
  connected: AnyConnectedChain,
  watched: ReadonlyMap<Address, DepositAddress>,
  changed: readonly Balance[],
  { atBlock, scannedAt }: Pick<AddressScan, "atBlock" | "scannedAt">,
): Promise<ReadonlySet<Address>> {
  const nowMs = services.clock.nowMs();
  const unstored = new Set<Address>();
  const changedByAddress = Map.groupBy(changed, ({ address }) => address);
  for (const [address, places] of changedByAddress)
    try {
      const isReported = await loadReportRule(services, connected, watched.get(address));
      const reported = new Set<Address>();
      for (const place of places) if (await isReported(place)) reported.add(place.currency);
      await storeFundsAt(services, address, places, reported, {
        atBlock,
        nowMs,
        unseenBlock: scannedAt?.get(address),
      });
    } catch (error) {
      // One address's fault must not delay the others.
      services.events.fault("deposit_address_fault", error, { chain: connected.chain.name, address });
      unstored.add(address);
    }
  return unstored;
}

async function storeFundsAt(
  services: AddressServices,
  address: Address,
  places: readonly Balance[],
  reported: ReadonlySet<Address>,
  { atBlock, nowMs, unseenBlock }: { atBlock: bigint; nowMs: number; unseenBlock: bigint | undefined },
): Promise<void> {
  await services.uow.run(async ({ depositAddresses }) => {
    const [{ chainId } = { chainId: 0 }] = places;
    await depositAddresses.lock(address);
    const underWay = await depositAddresses.underWay(chainId, [address], atBlock);
    const storedFunds = await depositAddresses.funds(chainId, address);
    for (const place of places) {
      const previous = storedFunds.find(({ currency }) => currency === place.currency);
      const amount = unsweptOf(place, underWay);
      if (previous === undefined && !hasRoomFor(services, storedFunds, place)) continue;
      // An older read must not overwrite a newer one.
      if (amount === (previous?.amount ?? 0n) || (previous?.changedBlock ?? 0n) > atBlock) continue;
      const reading = {
        amount,
        sinceBlock: atBlock,
        ...(unseenBlock !== undefined && { unseenBlock }),
        seenAtMs: nowMs,
      };
      const isReported = reported.has(place.currency);
      await depositAddresses.observe(
        place,
        readBalance(previous?.layers ?? [], reading),
        atBlock,
        isReported,
      );
    }
    await depositAddresses.noteFunds(address, nowMs);
    // Only for funds that a request reports: dust at many addresses must not displace addresses in use.
    if (places.some((place) => reported.has(place.currency) && unsweptOf(place, underWay) > 0n))
      await depositAddresses.setActive(address, nowMs);
  });
}

/** Anyone can request a check for any token, so only a limited number of unconfigured tokens is kept. */
function hasRoomFor(
  { chains }: AddressServices,
  storedFunds: readonly ObservedFunds[],
  { chainId, currency }: CurrencyAt,
): boolean {
  if (chains.currency(chainId, currency) !== undefined) return true;
  const unlisted = storedFunds.filter((funds) => chains.currency(chainId, funds.currency) === undefined);
  return unlisted.length < MAX_UNLISTED;
}

/** The amount with as many confirmations as a deposit of its value needs. */
async function confirmedOf(
  services: AddressServices,
  connected: AnyConnectedChain,
  funds: ObservedFunds,
  atBlock: bigint,
): Promise<bigint> {
  const unit = await priceOf(services, funds);
  const { confirmations } = addressesOn(connected);
  return confirmedPart(funds.layers, atBlock, (amount) =>
    confirmations(unit === undefined ? BEYOND_ALL_TIERS : amountToUsdDown(amount, unit)),
  );
}
