import { and, asc, eq, gt, isNull, or, sql as text } from "drizzle-orm";
import type { Address } from "@causeway/domain";
import { rulesToJson } from "@causeway/wire";
import type { ApiScope } from "../http/api-keys.port.ts";
import type { ApiKeyRecord, ApiKeyRegister, ApiKeySettings } from "./api-key-register.port.ts";
import { newSecret } from "./api-key-secret.adapter.ts";
import { IDENTITY, identityOf } from "./api-key-rows.postgres.ts";
import { apiKeys, fundingChallenges } from "./callers.tables.ts";
import { defineQuery, type Params, defineWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const RECORD = {
  ...IDENTITY,
  createdAtMs: apiKeys.createdAtMs,
  updatedAtMs: apiKeys.updatedAtMs,
  revokedAtMs: apiKeys.revokedAtMs,
  previousUntilMs: apiKeys.previousUntilMs,
};
type Row = Pick<typeof apiKeys.$inferSelect, keyof typeof RECORD>;

const insert = defineQuery(
  "api_key_insert",
  (db, p: Params<Omit<typeof apiKeys.$inferInsert, "updatedAtMs">>) =>
    db
      .insert(apiKeys)
      .values({
        id: p.id,
        secretHash: p.secretHash,
        label: p.label,
        scopes: p.scopes,
        referrers: p.referrers,
        origins: p.origins,
        rules: p.rules,
        quotePerMinute: p.quotePerMinute,
        otherPerMinute: p.otherPerMinute,
        createdAtMs: p.createdAtMs,
        updatedAtMs: p.createdAtMs,
      })
      .returning(RECORD),
);
const selectAll = defineQuery("api_key_list", (db) =>
  db.select(RECORD).from(apiKeys).orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id)),
);
const selectById = defineQuery("api_key_get", (db, { id }: Params<{ id: string }>) =>
  db.select(RECORD).from(apiKeys).where(eq(apiKeys.id, id)),
);

interface Change extends Record<string, unknown> {
  readonly id: string;
  /** Null keeps the value. */
  readonly label: string | null;
  readonly scopes: readonly ApiScope[] | null;
  readonly referrers: readonly string[] | null;
  readonly origins: readonly string[] | null;
  readonly rules: string | null;
  readonly setsLimits: boolean;
  readonly quotePerMinute: number | null;
  readonly otherPerMinute: number | null;
  readonly atMs: number;
}
const update = defineQuery("api_key_change", (db, p: Params<Change>) =>
  db
    .update(apiKeys)
    .set({
      label: text`coalesce(${p.label}, ${apiKeys.label})`,
      scopes: text`coalesce(${p.scopes}, ${apiKeys.scopes})`,
      referrers: text`coalesce(${p.referrers}, ${apiKeys.referrers})`,
      origins: text`coalesce(${p.origins}, ${apiKeys.origins})`,
      rules: text`coalesce(${p.rules}, ${apiKeys.rules})`,
      quotePerMinute: text`case when ${p.setsLimits} then ${p.quotePerMinute} else ${apiKeys.quotePerMinute} end`,
      otherPerMinute: text`case when ${p.setsLimits} then ${p.otherPerMinute} else ${apiKeys.otherPerMinute} end`,
      updatedAtMs: p.atMs,
    })
    .where(
      and(
        eq(apiKeys.id, p.id),
        isNull(apiKeys.revokedAtMs),
        // A publishable key never spends from an app balance.
        or(isNull(apiKeys.fundingAddress), text`coalesce(${p.origins}, ${apiKeys.origins}) = '{}'`),
      ),
    )
    .returning(RECORD),
);
const replaceSecret = defineQuery(
  "api_key_rotate",
  (db, p: Params<{ id: string; secretHash: Buffer; previousUntilMs: number; atMs: number }>) =>
    db
      .update(apiKeys)
      .set({
        previousSecretHash: text`${apiKeys.secretHash}`,
        previousUntilMs: p.previousUntilMs,
        secretHash: p.secretHash,
        updatedAtMs: p.atMs,
      })
      .where(and(eq(apiKeys.id, p.id), isNull(apiKeys.revokedAtMs)))
      .returning(RECORD),
);
const revoke = defineQuery("api_key_revoke", (db, { id, atMs }: Params<{ id: string; atMs: number }>) =>
  db
    .update(apiKeys)
    .set({
      revokedAtMs: text`coalesce(${apiKeys.revokedAtMs}, ${atMs})`,
      updatedAtMs: text`case when ${apiKeys.revokedAtMs} is null then ${atMs} else ${apiKeys.updatedAtMs} end`,
    })
    .where(eq(apiKeys.id, id))
    .returning(RECORD),
);

const openChallenge = defineWrite(
  "api_key_challenge",
  (db, { keyId, address, nonce, expiresAtMs }: Params<typeof fundingChallenges.$inferInsert>) =>
    db
      .insert(fundingChallenges)
      .values({ keyId, address, nonce, expiresAtMs })
      .onConflictDoUpdate({
        target: [fundingChallenges.keyId, fundingChallenges.address],
        set: { nonce, expiresAtMs },
      }),
);
const challengeOf = defineQuery(
  "api_key_challenge_get",
  (db, { keyId, address }: Params<{ keyId: string; address: Address }>) =>
    db
      .select({ nonce: fundingChallenges.nonce, expiresAtMs: fundingChallenges.expiresAtMs })
      .from(fundingChallenges)
      .where(and(eq(fundingChallenges.keyId, keyId), eq(fundingChallenges.address, address))),
);
const link = defineQuery(
  "api_key_link",
  (db, p: Params<{ keyId: string; address: Address; nonce: string; atMs: number }>) => {
    const used = db.$with("used").as(
      db
        .delete(fundingChallenges)
        .where(
          and(
            eq(fundingChallenges.keyId, p.keyId),
            eq(fundingChallenges.address, p.address),
            eq(fundingChallenges.nonce, p.nonce),
            gt(fundingChallenges.expiresAtMs, p.atMs),
          ),
        )
        .returning({ keyId: fundingChallenges.keyId }),
    );
    return db
      .with(used)
      .update(apiKeys)
      .set({ fundingAddress: p.address, updatedAtMs: p.atMs })
      .from(used)
      .where(and(eq(apiKeys.id, used.keyId), isNull(apiKeys.revokedAtMs), text`${apiKeys.origins} = '{}'`))
      .returning(RECORD);
  },
);

/** API keys in Postgres. A table trigger notifies every process of each change. */
export function apiKeyRegister(sql: Sql): ApiKeyRegister {
  const firstRecord = ([row]: readonly Row[]): ApiKeyRecord | undefined =>
    row === undefined ? undefined : recordOf(row);
  return {
    async issue(settings, atMs) {
      const { id, key, secretHash } = newSecret();
      const record = firstRecord(
        await insert(sql, {
          id,
          secretHash,
          label: settings.label,
          scopes: [...settings.scopes],
          referrers: [...settings.referrers],
          origins: [...settings.origins],
          rules: rulesText(settings),
          quotePerMinute: settings.limits.quotePerMinute ?? null,
          otherPerMinute: settings.limits.otherPerMinute ?? null,
          createdAtMs: atMs,
        }),
      );
      if (record === undefined) throw new Error("invariant violated: inserted API key was not returned");
      return { key, record };
    },
    list: async () => (await selectAll(sql, {})).map(recordOf),
    get: async (id) => firstRecord(await selectById(sql, { id })),
    async change(id, change, atMs) {
      const rows = await update(sql, {
        id,
        label: change.label ?? null,
        scopes: change.scopes ?? null,
        referrers: change.referrers ?? null,
        origins: change.origins ?? null,
        rules: change.rules === undefined ? null : rulesText({ rules: change.rules }),
        setsLimits: change.limits !== undefined,
        quotePerMinute: change.limits?.quotePerMinute ?? null,
        otherPerMinute: change.limits?.otherPerMinute ?? null,
        atMs,
      });
      return firstRecord(rows);
    },
    async rotate(id, previousUntilMs, atMs) {
      const { key, secretHash } = newSecret(id);
      const record = firstRecord(await replaceSecret(sql, { id, secretHash, previousUntilMs, atMs }));
      return record && { key, record };
    },
    revoke: async (id, atMs) => firstRecord(await revoke(sql, { id, atMs })),
    async openChallenge(keyId, address, { nonce, expiresAtMs }) {
      await openChallenge(sql, { keyId, address, nonce, expiresAtMs });
    },
    findChallenge: async (keyId, address) => (await challengeOf(sql, { keyId, address }))[0],
    link: async (keyId, address, nonce, atMs) =>
      firstRecord(await link(sql, { keyId, address, nonce, atMs })),
  };
}

const rulesText = ({ rules }: Pick<ApiKeySettings, "rules">): string => JSON.stringify(rulesToJson(rules));

function recordOf(row: Row): ApiKeyRecord {
  return {
    ...identityOf(row),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    revokedAtMs: row.revokedAtMs ?? undefined,
    previousUntilMs: row.previousUntilMs ?? undefined,
  };
}
