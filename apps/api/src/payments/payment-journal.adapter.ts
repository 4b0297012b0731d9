import { promptConnection } from "../db/connections.adapter.ts";
import type { RedisEndpoint } from "../db/redis-endpoint.port.ts";
import { FormerPrimary } from "../db/server-replaced.port.ts";
import { entryOf, legTag, readEntry, writeEntry } from "./journal-entry.ts";
import { NonceConflict, type PaymentJournal } from "./payment-journal.port.ts";

/** Commands that take longer fail: the payment is broadcast later. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * Entries kept per lane. A failover loses the payments of a few seconds; older payments are final long before
 * this many newer ones are made.
 */
const MAX_ENTRIES = 512;

/** The field of a lane with the number above its highest nonce. */
const MARK = "mark";

// Each script begins with the highest timeline seen of this database: a former primary has a lower one.
const FENCE = `
local highest = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or '0')
local timeline = tonumber(ARGV[2])
if timeline < highest then return 'former' end
`;

const ENTER = `${FENCE}
for i = 4, #ARGV, 3 do
  local entry = redis.call('hget', KEYS[2], ARGV[i])
  if entry then
    local tag = ARGV[i + 1] .. '\\n'
    if string.sub(entry, 1, #tag) ~= tag then return ARGV[i] end
    for _, attempt in ipairs(cjson.decode(string.sub(entry, #tag + 1)).attempts) do
      if not string.find(ARGV[i + 2], attempt.raw, 1, true) then return ARGV[i] end
    end
  end
end
local keep = tonumber(ARGV[3])
local before = tonumber(redis.call('hget', KEYS[2], '${MARK}') or '0')
local mark = before
for i = 4, #ARGV, 3 do
  redis.call('hset', KEYS[2], ARGV[i], ARGV[i + 1] .. '\\n' .. ARGV[i + 2])
  mark = math.max(mark, tonumber(ARGV[i]) + 1)
end
for old = math.max(before, mark - keep) - keep, mark - keep - 1 do redis.call('hdel', KEYS[2], old) end
redis.call('hset', KEYS[2], '${MARK}', mark)
return 'entered'`;

const READ_MARK = `${FENCE}
if timeline > highest then redis.call('hset', KEYS[1], ARGV[1], timeline) end
return redis.call('hget', KEYS[2], '${MARK}')`;

// Removes entries that are too old for the new mark: `ENTER` removes only those just below its own.
const RAISE = `${FENCE}
local mark = tonumber(ARGV[4])
if mark <= tonumber(redis.call('hget', KEYS[2], '${MARK}') or '-1') then return end
for _, field in ipairs(redis.call('hkeys', KEYS[2])) do
  local nonce = tonumber(field)
  if nonce and nonce < mark - tonumber(ARGV[3]) then redis.call('hdel', KEYS[2], field) end
end
redis.call('hset', KEYS[2], '${MARK}', mark)`;

const MISSING = `${FENCE}
local lowest = tonumber(redis.call('hget', KEYS[2], '${MARK}') or '0') - tonumber(ARGV[3])
local missing = {}
for i = 4, #ARGV, 2 do
  local entry = redis.call('hget', KEYS[2], ARGV[i]) or ''
  if tonumber(ARGV[i]) >= lowest and not string.find(entry, ARGV[i + 1], 1, true) then
    missing[#missing + 1] = ARGV[i]
  end
end
return missing`;

/**
 * Keeps the journal in Redis. If Redis does not respond, each call fails.
 * @param identity of the database server that answered last, see `database_identity()`
 */
export async function connectJournal(
  endpoint: RedisEndpoint,
  prefix: string,
  identity: () => string | undefined,
): Promise<PaymentJournal & { close(): void }> {
  const redis = await promptConnection(endpoint, ANSWER_WITHIN_MS);
  // Not below the prefix of the queues, which an operator may remove.
  const laneKey = (chainId: number, sender: string): string => `${prefix}-payments:${chainId}:${sender}`;
  const fenceKey = `${prefix}-payments:timelines`;

  const run = async (
    script: string,
    key: string,
    ...args: readonly (string | number)[]
  ): Promise<unknown> => {
    const [database, timeline] = parseIdentity(identity() ?? "0/0/0");
    const answer = await redis.eval(script, 2, fenceKey, key, database, timeline, ...args);
    if (answer === "former") throw new FormerPrimary(identity() ?? "");
    return answer;
  };

  return {
    async enter(sent, atMs) {
      for (const [key, ofLane] of Map.groupBy(sent, ({ slot }) => laneKey(slot.chainId, slot.sender))) {
        const fields = ofLane.flatMap((payment) => [
          payment.slot.nonce,
          legTag(payment.slot),
          writeEntry(entryOf(payment, atMs)),
        ]);
        const answer = await run(ENTER, key, MAX_ENTRIES, ...fields);
        if (answer !== "entered") throw new NonceConflict(ofLane[0]?.slot.chainId ?? 0, Number(answer));
      }
    },
    async mark(chainId, sender) {
      const answer = await run(READ_MARK, laneKey(chainId, sender));
      return typeof answer === "string" ? Number(answer) : undefined;
    },
    async raise(chainId, sender, mark) {
      await run(RAISE, laneKey(chainId, sender), MAX_ENTRIES, mark);
    },
    async missing(chainId, sender, sent) {
      const args = sent.flatMap(({ nonce, raw }) => [nonce, raw]);
      const answer = await run(MISSING, laneKey(chainId, sender), MAX_ENTRIES, ...args);
      return new Set(Array.isArray(answer) ? answer.map(Number) : []);
    },
    async entries(chainId, sender) {
      const fields = await redis.hgetall(laneKey(chainId, sender));
      return Object.entries(fields)
        .flatMap(([field, text]) => (field === MARK ? [] : readEntry(text.slice(text.indexOf("\n") + 1))))
        .toSorted((a, b) => a.nonce - b.nonce);
    },
    close: () => redis.disconnect(),
  };
}

/** The database, and its timeline as a number. */
function parseIdentity(identity: string): readonly [string, number] {
  const slash = identity.lastIndexOf("/");
  return [identity.slice(0, slash), Number.parseInt(identity.slice(slash + 1), 16) || 0];
}
