import type { Address, Hex, RequestId } from "@causeway/domain";
import type {
  NonceMappingRecord,
  NonceMappingState,
  NonceMappingStore,
  NonceMappingWrites,
  SignedNonceMapping,
} from "../../chains/nonce-mappings.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

interface Row {
  key: number;
  chain_id: number;
  wallet: string;
  nonce: bigint;
  mapped_id: string;
  depositor: string;
  request_id: string | null;
  signature: string;
  signature_chain_id: number;
  state: string;
  tries: number;
  hub_signature: string | null;
  hub_mapped_id: string | null;
  hub_depositor: string | null;
  hub_set_at: number | null;
  created_at_ms: number;
}

const COLUMNS =
  "m.key, m.chain_id, m.wallet, m.nonce, m.mapped_id, m.depositor, m.request_id, m.signature, m.signature_chain_id, " +
  "m.state, m.tries, m.hub_signature, m.hub_mapped_id, m.hub_depositor, m.hub_set_at, m.created_at_ms";

const find = statement(
  "nonce_mapping_find",
  `select ${COLUMNS} from nonce_mappings m where chain_id = $1 and wallet = $2 and nonce = $3`,
);
const toSign = statement(
  "nonce_mapping_to_sign",
  `select ${COLUMNS} from nonce_mappings m
   where state = 'stored' and transaction_id is null and next_try_ms <= $1 order by next_try_ms limit $2`,
);
const toCarry = statement(
  "nonce_mapping_to_carry",
  `select ${COLUMNS} from nonce_mappings m
   where state = 'signed' and transaction_id is null and next_try_ms <= $1 order by next_try_ms, key limit $2`,
);
const carried = statement(
  "nonce_mapping_carried",
  `select ${COLUMNS}, t.state as transaction_state from nonce_mappings m join hub_transactions t on t.id = m.transaction_id
   where m.state = 'signed' order by m.key limit $1`,
);
const waiting = statement(
  "nonce_mapping_waiting",
  `select state, count(*) as count, min(created_at_ms) as oldest_ms from nonce_mappings
   where state in ('stored', 'signed') group by state`,
);
const lockWallet = statement(
  "nonce_mapping_lock_wallet",
  "select pg_advisory_xact_lock(hashtextextended('causeway:nonces of ' || $1, 0))",
);
const standing = statement(
  "nonce_mapping_standing",
  `select
     exists (select 1 from deposits where chain_id = $1 and mapping_until_ms is not null and sender = $2 and wallet_nonce = $3) as seen,
     (select count(*) from nonce_mappings m left join requests r on r.request_id = m.request_id
       where m.chain_id = $1 and m.wallet = $2 and m.created_at_ms > $4 and r.deposit_id is null) as open_of_wallet,
     (select count(*) from nonce_mappings where state in ('stored', 'signed')) as waiting`,
);
const insert = statement(
  "nonce_mapping_say",
  `insert into nonce_mappings
     (chain_id, wallet, nonce, mapped_id, depositor, request_id, signature, signature_chain_id, state, next_try_ms, created_at_ms, updated_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, 'stored', $9, $9, $9) on conflict (chain_id, wallet, nonce) do nothing returning key`,
);
const signed = statement(
  "nonce_mapping_signed",
  `update nonce_mappings set state = 'signed', hub_signature = $2, reason = null, next_try_ms = $3, updated_at_ms = $3
   where key = $1 and state = 'stored'`,
);
const postpone = statement(
  "nonce_mapping_postpone",
  `update nonce_mappings set reason = $2, tries = tries + 1, next_try_ms = $3, updated_at_ms = $4
   where key = $1 and state in ('stored', 'signed') and transaction_id is null`,
);
const carry = statement(
  "nonce_mapping_carry",
  `update nonce_mappings set transaction_id = $2 where key = any($1::bigint[]) and state = 'signed' and transaction_id is null returning key`,
);
const settle = statement(
  "nonce_mapping_settle",
  `update nonce_mappings set state = $2, reason = null, hub_mapped_id = $3, hub_depositor = $4, hub_set_at = $5, updated_at_ms = $6
   where key = $1 and state in ('stored', 'signed')`,
);
const release = statement(
  "nonce_mapping_release",
  `update nonce_mappings set state = 'stored', transaction_id = null, hub_signature = null, reason = $2, tries = tries + 1,
     next_try_ms = $3, updated_at_ms = $4
   where key = $1 and state = 'signed'`,
);

/** What wallets signed about their nonces, on a Postgres pool. */
export function nonceMappingStore(sql: Sql): NonceMappingStore {
  return {
    async find(chainId, wallet, nonce) {
      const [row] = await sql.query<Row>(find, [chainId, wallet, nonce]);
      return row && recordOf(row);
    },
    async toSign(nowMs, limit) {
      return (await sql.query<Row>(toSign, [nowMs, limit])).map(recordOf);
    },
    async toCarry(nowMs, limit) {
      return (await sql.query<Row>(toCarry, [nowMs, limit])).map(signedOf);
    },
    async carried(limit) {
      const rows = await sql.query<Row & { transaction_state: string }>(carried, [limit]);
      return rows.map((row) => ({ record: signedOf(row), isOver: row.transaction_state === "final" }));
    },
    async waiting() {
      const rows = await sql.query<{ state: string; count: number; oldest_ms: number }>(waiting, []);
      return rows.map((row) => ({ state: row.state, count: row.count, oldestMs: row.oldest_ms }));
    },
  };
}

/** The same inside one transaction. */
export function nonceMappingWrites(sql: Sql): NonceMappingWrites {
  return {
    async lockWallet(wallet) {
      await sql.query(lockWallet, [wallet]);
    },
    async standing({ chainId, wallet, nonce, id, depositor }, sinceMs) {
      const [row] = await sql.query<Row>(find, [chainId, wallet, nonce]);
      const [counted] = await sql.query<{ seen: boolean; open_of_wallet: number; waiting: number }>(
        standing,
        [chainId, wallet, nonce, sinceMs],
      );
      if (counted === undefined)
        throw new Error("invariant violated: count of authorizations returned no row");
      return {
        said: row && (row.mapped_id === id && row.depositor === depositor ? "same" : "taken"),
        isTransferSeen: counted.seen,
        openOfWallet: counted.open_of_wallet,
        waiting: counted.waiting,
      };
    },
    async say(said, atMs) {
      const { chainId, wallet, nonce, id, depositor, requestId, signature, signatureChainId } = said;
      const values = [
        chainId,
        wallet,
        nonce,
        id,
        depositor,
        requestId ?? null,
        signature,
        signatureChainId,
        atMs,
      ];
      if ((await sql.query(insert, values)).length > 0) return "new";
      const [row] = await sql.query<Row>(find, [chainId, wallet, nonce]);
      if (row === undefined)
        throw new Error("invariant violated: nonce mapping was neither inserted nor found");
      return row.mapped_id === id && row.depositor === depositor ? "same" : "taken";
    },
    async signed(key, hubSignature, atMs) {
      await sql.query(signed, [key, hubSignature, atMs]);
    },
    async postpone(key, reason, nextTryMs, atMs) {
      await sql.query(postpone, [key, reason, nextTryMs, atMs]);
    },
    async carry(keys, transactionId) {
      return (await sql.query(carry, [keys, transactionId])).length === keys.length;
    },
    async settle(key, state, mapped, atMs) {
      await sql.query(settle, [
        key,
        state,
        mapped?.id ?? null,
        mapped?.depositor ?? null,
        mapped?.setAt ?? null,
        atMs,
      ]);
    },
    async release(key, reason, nextTryMs, atMs) {
      await sql.query(release, [key, reason, nextTryMs, atMs]);
    },
  };
}

function recordOf(row: Row): NonceMappingRecord {
  return {
    key: String(row.key),
    chainId: row.chain_id,
    wallet: row.wallet as Address,
    nonce: row.nonce,
    id: row.mapped_id as Hex,
    depositor: row.depositor as Address,
    requestId: (row.request_id ?? undefined) as RequestId | undefined,
    signature: row.signature as Hex,
    signatureChainId: row.signature_chain_id,
    state: row.state as NonceMappingState,
    tries: row.tries,
    mapped:
      row.hub_mapped_id === null || row.hub_depositor === null || row.hub_set_at === null
        ? undefined
        : {
            id: row.hub_mapped_id as Hex,
            depositor: row.hub_depositor as Address,
            setAt: BigInt(row.hub_set_at),
          },
    createdAtMs: row.created_at_ms,
  };
}

function signedOf(row: Row): SignedNonceMapping {
  if (row.hub_signature === null)
    throw new Error(`invariant violated: nonce mapping ${row.key} is signed without a signature`);
  return { ...recordOf(row), hubSignature: row.hub_signature as Hex };
}
