const files = [
  "app-balance",
  "bridges",
  "examples",
  "fast-fill",
  "gasless",
  "hardhat",
  "hooks",
  "features",
  "non-evm-options",
  "odd-bodies",
  "oracle-walk",
  "providers",
  "published-types",
  "readme",
  "routes",
  "sdk",
  "settlement",
  "shutdown",
  "shutdown-npm",
  "storm",
  "takeover",
  "signers",
  "rehearsal",
  "solana-swaps",
] as const;

/**
 * The first port of the system that a test file starts. Each file has a range of a hundred ports. All are
 * below 32,768, where Linux's ephemeral ports start.
 */
export function portBaseOf(file: (typeof files)[number]): number {
  return 20_000 + 100 * files.indexOf(file);
}
