import type { Range } from "./archive.port.ts";

/** Divides a range among connections: each takes the next part when it has finished one. */
export class SharedRanges {
  readonly #size: number;
  readonly #through: number;
  #next: number;
  /** Number of parts. */
  readonly count: number;

  /** @param size of a part */
  constructor({ after, through }: Range, size: number) {
    this.#next = after;
    this.#through = through;
    this.#size = size;
    this.count = Math.ceil((through - after) / size);
  }

  /** Takes the remaining parts one by one. */
  *takeParts(): Generator<Range> {
    while (this.#next < this.#through) {
      const after = this.#next;
      this.#next = Math.min(after + this.#size, this.#through);
      yield { after, through: this.#next };
    }
  }

  /** Lets `takeParts` end: no further part is taken. */
  stop(): void {
    this.#next = this.#through;
  }
}

/**
 * Divides a range so that each connection gets a part of it.
 * @param maxSize of a part
 */
export function shareOut(range: Range, maxSize: number, connections: number): SharedRanges {
  const share = Math.ceil((range.through - range.after) / connections);
  return new SharedRanges(range, Math.max(1, Math.min(share, maxSize)));
}

/**
 * Runs `work` for each connection at once, and returns when all have ended.
 * @param work gets the number of its connection, from 1
 * @throws the first failure, after which the other connections only finish the part that they have taken
 */
export async function onAll<Connection>(
  connections: readonly Connection[],
  ranges: readonly SharedRanges[],
  work: (connection: Connection, n: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(
    connections.map(async (connection, index) => {
      try {
        await work(connection, index + 1);
      } catch (error) {
        failures.push(error);
        for (const range of ranges) range.stop();
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
