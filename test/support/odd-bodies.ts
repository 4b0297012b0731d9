/** A repeatable generator of numbers in [0, 1) from a seed (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const odd: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  "",
  " ",
  "0",
  "-1",
  "1e3",
  "0x",
  "NaN",
  "é😀\u0000\ud800",
  "9".repeat(77),
  "9".repeat(78),
  "9".repeat(5000),
  `0x${"f".repeat(64)}`,
  `0x${"g".repeat(64)}`,
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { __proto__: null, length: -1 },
  "__proto__",
  "constructor",
  '{"txHash":1}',
  "[]",
  '"x"',
  "null",
];

/** The fields of `value`. Undefined if it is not an object, or has no fields. */
function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return undefined;
  return value as Record<string, unknown>;
}

function mutate(body: object, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const copy = structuredClone(body) as Record<string, unknown>;
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    let target: Record<string, unknown> = copy;
    let key = pick(Object.keys(target));
    for (
      let inner = fieldsOf(target[key]);
      inner !== undefined && random() < 0.7;
      inner = fieldsOf(target[key])
    ) {
      target = inner;
      key = pick(Object.keys(target));
    }
    const act = random();
    if (act < 0.2) delete target[key];
    else if (act < 0.3)
      target[pick(["__proto__x", "constructor", "extra", "0", ""])] = structuredClone(pick(odd));
    else if (act < 0.4 && typeof target[key] === "string")
      target[key] = `${target[key]}${pick(["x", "\n", "0", " "])}`;
    else target[key] = structuredClone(pick(odd));
    if (Object.keys(copy).length === 0) break;
  }
  return copy;
}

/** One request body as text: `body` with some mutated fields, other JSON, or text that is not JSON. */
export function rawBody(body: object, random: () => number): string {
  const kind = random();
  if (kind < 0.8) return JSON.stringify(mutate(body, random));
  if (kind < 0.9) return JSON.stringify(odd[Math.floor(random() * odd.length)] ?? null);
  const text = JSON.stringify(body);
  const at = Math.floor(random() * text.length);
  return kind < 0.95
    ? text.slice(0, at)
    : `${text.slice(0, at)}${String.fromCharCode(random() * 300)}${text.slice(at + 1)}`;
}
