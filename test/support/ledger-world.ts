import type { Address, Currency, CurrencyClass, Hex, LedgerAsset } from "@causeway/domain";
import { availableFor } from "@causeway/domain";
import type { BalancePurpose } from "@causeway/domain";
import type pg from "pg";
import { createPool } from "../../apps/api/src/db/pool.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import type { BookLine, WalletBook } from "../../apps/api/src/balances/ledger.port.ts";
import type { Services } from "../../apps/api/src/db/services.port.ts";
import type { Tx } from "../../apps/api/src/db/unit-of-work.port.ts";
import { appraise } from "../../apps/api/src/balances/appraise.ts";
import { creditTopUp } from "../../apps/api/src/balances/credit-top-up.ts";
import { adjustablePrices, type AdjustablePrices } from "../fakes/adjustable-prices.ts";
import { noAppBalances } from "../fakes/no-app-balances.ts";
import { recordedEvents, type RecordedEvents } from "../fakes/recorded-events.ts";
import { createTestDatabase } from "./database.ts";
import { someHash } from "./terms.ts";

const CHAIN_ID = 8453;
export const ONE = 10n ** 18n;

/** Priced at 1 and 2,000 dollars. */
export const usdc: LedgerAsset = {
  chainId: CHAIN_ID,
  currency: "0xaa00000000000000000000000000000000000001",
};
export const ether: LedgerAsset = {
  chainId: CHAIN_ID,
  currency: "0x0000000000000000000000000000000000000000",
};

/** The ledger on a real database, with prices that the test sets. */
export interface LedgerWorld {
  readonly services: Pick<
    Services,
    "clock" | "events" | "prices" | "quotePolicy" | "chains" | "appBalance" | "uow"
  >;
  readonly events: RecordedEvents;
  readonly prices: AdjustablePrices;
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Credits a wallet without a transfer. Each call makes a new movement. */
  credit(wallet: Address, asset: LedgerAsset, amount: bigint): Promise<void>;
  book(wallet: Address): Promise<WalletBook>;
  line(wallet: Address, asset: LedgerAsset): Promise<Omit<BookLine, "asset">>;
  available(wallet: Address, purpose: BalancePurpose): Promise<bigint>;
  stop(): Promise<void>;
}

export async function startLedgerWorld(): Promise<LedgerWorld> {
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 20, statementTimeoutMs: 20_000, applicationName: "test" });
  const prices = adjustablePrices({ "usd-coin": "1", ethereum: "2000" });
  const events = recordedEvents();
  const currencies = [
    aCurrency(usdc.currency, "usdc", 6, "usd-coin", "stable"),
    aCurrency(ether.currency, "eth", 18, "ethereum", "major"),
  ];
  let now = 1_700_000_000_000;
  const uow = postgresUnitOfWork(pool, events);
  const services = {
    clock: { nowMs: () => now++ },
    events,
    prices,
    uow,
    quotePolicy: noAppBalances.quotePolicy,
    // Every chain has the same currencies.
    chains: {
      ...noAppBalances.chains,
      currency: (_chainId: number, address: Address) =>
        currencies.find((currency) => currency.address === address),
    },
    appBalance: {
      chainId: CHAIN_ID,
      currencies,
      confirmations: 2,
      minTopUpUsd: 0n,
      claimLifetimeSeconds: 600,
    },
  };
  const world: LedgerWorld = {
    services,
    events,
    prices,
    pool,
    databaseUrl: database.url,
    inTransaction: (work) => uow.run(work),
    async credit(wallet, asset, amount) {
      await uow.run(
        async (tx) =>
          await creditTopUp(services, tx, { wallet, asset, amount, movementKey: `given:${someHash()}` }),
      );
    },
    book: (wallet) => uow.run(async (tx) => await tx.ledger.lockWallet(wallet, now)),
    async line(wallet, asset) {
      const { lines } = await world.book(wallet);
      const entry = lines.find((line) => line.asset.currency === asset.currency);
      return { balance: entry?.balance ?? 0n, pending: entry?.pending ?? 0n, owed: entry?.owed ?? 0n };
    },
    async available(wallet, purpose) {
      return availableFor(purpose, appraise(services, await world.book(wallet)).standing);
    },
    async stop() {
      await pool.end();
      await database.drop();
    },
  };
  return world;
}

function aCurrency(
  address: Hex,
  id: string,
  decimals: number,
  priceId: string,
  currencyClass: CurrencyClass,
): Currency {
  return {
    chainId: CHAIN_ID,
    address,
    id,
    symbol: id.toUpperCase(),
    name: id,
    decimals,
    class: currencyClass,
    priceId,
    supportsBridging: true,
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: undefined,
  };
}

/** The invariants of the whole ledger that are violated. Empty if all hold. */
export async function violatedInvariants(pool: pg.Pool): Promise<string[]> {
  const queryByInvariant: Readonly<Record<string, string>> = {
    "every asset sums to zero over all accounts":
      "select chain_id, currency, sum(amount) from ledger_entries group by 1, 2 having sum(amount) <> 0",
    "every movement sums to zero in every asset":
      "select movement_id from ledger_entries group by movement_id, chain_id, currency having sum(amount) <> 0",
    "the running balance is the sum of the entries": `select * from (
        select balance_after, sum(amount) over (partition by wallet, account, chain_id, currency order by seq) as total
        from ledger_entries where wallet is not null) e where balance_after <> total`,
    "entries are numbered without a gap": `select wallet from ledger_entries where wallet is not null
        group by wallet, account, chain_id, currency having max(seq) <> count(*)`,
    "nothing but a debt is below zero":
      "select id from ledger_entries where (account <> 'owed' and balance_after < 0) or (account = 'owed' and balance_after > 0)",
    "pending is open reservations and claims being paid": `select * from (
        select wallet, chain_id, currency, sum(amount) as amount from ledger_entries where account = 'pending' group by 1, 2, 3
      ) l full join (
        select wallet, chain_id, currency, sum(amount) as amount from (
          select r.wallet, p.chain_id, p.currency, p.amount from fee_reservations r
            join fee_reservation_parts p on p.reservation_id = r.id where r.state = 'open'
          union all select wallet, chain_id, currency, amount + fee_amount from claims where state = 'paying'
        ) o group by 1, 2, 3
      ) s using (wallet, chain_id, currency) where coalesce(l.amount, 0) <> coalesce(s.amount, 0)`,
  };
  const { rows } = await pool.query<{ law: string }>(
    Object.entries(queryByInvariant)
      .map(([law, query]) => `select '${law}' as law where exists (${query})`)
      .join(" union all "),
  );
  return rows.map(({ law }) => law);
}
