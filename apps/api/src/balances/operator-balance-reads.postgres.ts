import { sql as text, type Column, type SQL } from "drizzle-orm";
import { defineReport, outputsOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { slots } from "../payments/payments.tables.ts";
import { claims } from "./claims.tables.ts";
import { ledgerAccounts as accounts, ledgerEntries as entries } from "./ledger.tables.ts";
import { holds } from "./reservations.tables.ts";
import { appTopUps as topUps } from "./top-ups.tables.ts";

/** Formats USD with 18 decimals as text with 6 decimals. */
const usdText = (usd: Column | SQL): SQL => text`trunc(${usd} / 1e18, 6)::text`;
const timeOf = (ms: Column): SQL => text`to_timestamp(${ms} / 1000)`;

const sumOf = (account: SQL): SQL =>
  text`coalesce(sum(e.balance_after) filter (where ${accounts.account} = ${account}), 0)`;
const walletBalances = defineReport(
  "operator_balances",
  (p: Params<{ wallet: string | null }>) => text`select ${outputsOf({
    wallet: accounts.wallet,
    chain_id: accounts.chainId,
    currency: accounts.currency,
    balance: sumOf(text`'balance'`),
    pending: sumOf(text`'pending'`),
    owed: text`-${sumOf(text`'owed'`)}`,
    held_usd: text`(select ${usdText(text`coalesce(sum(${holds.usd}), 0)`)} from ${holds}
      where ${holds.wallet} = ${accounts.wallet} and ${holds.state} = 'active')`,
  })}
    from ${accounts} cross join lateral (
      select ${entries.balanceAfter} as balance_after from ${entries}
      where ${entries.wallet} = ${accounts.wallet} and ${entries.account} = ${accounts.account}
        and ${entries.chainId} = ${accounts.chainId} and ${entries.currency} = ${accounts.currency}
      order by ${entries.seq} desc limit 1
    ) e
    where ${p.wallet}::text is null or ${accounts.wallet} = ${p.wallet}
    group by 1, 2, 3 order by 1, 2, 3`,
);

const serviceSum = (account: SQL): SQL =>
  text`coalesce(sum(${entries.amount}) filter (where ${entries.account} = ${account}), 0)`;
const serviceBalances = defineReport(
  "operator_house",
  () => text`select ${outputsOf({
    wallet: text`'house'`,
    chain_id: entries.chainId,
    currency: entries.currency,
    held_on_chain: text`-${serviceSum(text`'custody'`)}`,
    fees: serviceSum(text`'fees'`),
    fronted: serviceSum(text`'fronted'`),
  })}
    from ${entries} where ${entries.wallet} is null group by 2, 3 order by 2, 3`,
);

const reportHolds = defineReport(
  "operator_holds",
  () => text`select ${outputsOf({
    request_id: holds.requestId,
    wallet: holds.wallet,
    key_id: holds.keyId,
    state: holds.state,
    usd: usdText(holds.usd),
    chain_id: holds.chainId,
    currency: holds.currency,
    amount: holds.amount,
    placed: timeOf(holds.placedAtMs),
    resolved: timeOf(holds.resolvedAtMs),
  })}
    from ${holds} where ${holds.state} <> 'released' order by ${holds.state}, ${holds.placedAtMs}`,
);

const reportClaims = defineReport(
  "operator_claims",
  () => text`select ${outputsOf({
    claim_id: claims.claimId,
    wallet: claims.wallet,
    chain_id: claims.chainId,
    currency: claims.currency,
    amount: claims.amount,
    fee_amount: claims.feeAmount,
    recipient: claims.recipient,
    state: claims.state,
    tries: claims.tries,
    tx_hash: claims.txHash,
    fail_reason: claims.failReason,
    nonce: slots.nonce,
    slot: slots.state,
    since: timeOf(claims.createdAtMs),
  })}
    from ${claims} left join ${slots}
      on ${slots.legKind} = 'claim' and ${slots.legId} = ${claims.claimId} and ${slots.state} <> 'dead'
    where ${claims.state} <> 'offered' order by ${claims.state} <> 'paying', ${claims.createdAtMs} desc limit 100`,
);

const reportUnattributed = defineReport(
  "operator_unattributed_top_ups",
  () => text`select ${outputsOf({
    about: text`'top-up'`,
    id: topUps.id,
    chain_id: topUps.chainId,
    tx_hash: topUps.txHash,
    currency: topUps.currency,
    amount: topUps.amount,
    sender: topUps.sender,
    wallet: topUps.wallet,
    canonical: topUps.canonical,
    reason: text`case when ${topUps.wallet} is null then 'the marker does not identify a wallet'
      else 'the top-up is worth less than the minimum' end`,
    seen_at_ms: topUps.seenAtMs,
  })}
    from ${topUps} where ${topUps.state} = 'unattributed' order by ${topUps.id}`,
);

/**
 * Balances, reservations and debts of one or all wallets, in base units; without a wallet, also the service's
 * own accounts.
 */
export async function balanceReport(sql: Sql, wallet?: string): Promise<object[]> {
  const rows = await walletBalances(sql, { wallet: wallet ?? null });
  return wallet === undefined ? [...rows, ...(await serviceBalances(sql, {}))] : rows;
}

/** Active holds, and holds that were debited; oldest first in each state. */
export function holdReport(sql: Sql): Promise<object[]> {
  return reportHolds(sql, {});
}

/** Claims in progress first, then all others; newest first, at most 100. */
export function claimReport(sql: Sql): Promise<object[]> {
  return reportClaims(sql, {});
}

/** Transfers meant for an app balance that are not credited to any wallet. */
export function unattributedTopUps(sql: Sql): Promise<object[]> {
  return reportUnattributed(sql, {});
}
