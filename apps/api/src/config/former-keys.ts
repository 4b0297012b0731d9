import { ConfigError, Secret } from "@causeway/config";

const KEY = /^(?:0x)?([0-9a-fA-F]{64})$/;

/**
 * Reads private keys separated by commas.
 * @throws ConfigError with all problems; none contains a key
 */
export function readFormerKeys(text: string): readonly Secret[] {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  const problems: string[] = [];
  const keys = entries.flatMap((entry, index) => {
    const hex = KEY.exec(entry)?.[1];
    if (hex !== undefined) return [`0x${hex.toLowerCase()}`];
    problems.push(`SOLVER_FORMER_KEYS entry ${index + 1} must be 32 bytes of hex`);
    return [];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return [...new Set(keys)].map((key) => new Secret(key));
}
