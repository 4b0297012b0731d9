/** One EVM chain of the local system. */
export interface LocalChain {
  readonly id: number;
  /** The name under which orders and configuration know it. */
  readonly name: string;
  readonly displayName: string;
  /** Prefix of its variables in the environment of the services. */
  readonly envPrefix: string;
}

/** Ids that no real chain has. */
export const localChains: readonly [LocalChain, LocalChain] = [
  { id: 72_100_117, name: "local-a", displayName: "Local Alder", envPrefix: "LOCAL_A" },
  { id: 72_100_228, name: "local-b", displayName: "Local Birch", envPrefix: "LOCAL_B" },
];

export const defaultPortBase = 18_500;

/** Which port each part listens on: a block of 22 from `base`. At most five API processes and five workers. */
export function portsFrom(base: number): {
  api: (index: number) => number;
  workerHealth: (index: number) => number;
  postgres: number;
  redis: number;
  anvil: (index: number) => number;
} {
  return {
    api: (index) => base + index,
    workerHealth: (index) => base + 5 + index,
    postgres: base + 10,
    redis: base + 11,
    anvil: (index) => base + 20 + index,
  };
}
