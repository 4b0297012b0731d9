import type { SponsorshipRules } from "@causeway/domain";
import { defaultSponsorshipRules } from "@causeway/domain";
import { rulesToJson } from "@causeway/wire";
import type { EngineWorld } from "./engine-world.ts";
import { aSponsor, type Sponsor } from "./sponsors.ts";

/**
 * An app whose key is stored in the database, so that the worker can read it.
 * @param usd value of the app's balance in whole dollars
 */
export async function aPayingKey(
  world: Pick<EngineWorld, "services" | "pool">,
  usd: number,
  rules: Partial<SponsorshipRules> = {},
): Promise<Sponsor> {
  const sponsor = await aSponsor(world, usd, { rules: { ...defaultSponsorshipRules, ...rules } });
  const { key, wallet } = sponsor;
  await world.pool.query(
    `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, funding_address, rules, created_at_ms, updated_at_ms)
     values ($1, $2, decode($1, 'hex'), $3, '{}', '{}', $4, $5, 1, 1)`,
    [key.id, key.label, key.scopes, wallet, JSON.stringify(rulesToJson(key.rules))],
  );
  return sponsor;
}
