import type { Head, HeadSource } from "@causeway/chains";
import { expect, test } from "vitest";

/** A head source, and a function that adds a block to its chain. */
export interface HeadSourceUnderTest {
  readonly source: HeadSource;
  readonly grow: () => Promise<void>;
}

/** What every head source must guarantee. */
export function headSourceContract(name: string, make: () => Promise<HeadSourceUnderTest>): void {
  test(`${name}: notifies every listener of a new head, which is then the latest head`, async () => {
    const { source, grow } = await make();
    const heard: [Head[], Head[]] = [[], []];
    const wasLatest: unknown[] = [];
    for (const heads of heard)
      source.onHead((head) => {
        heads.push(head);
        wasLatest.push(source.latest === head);
      });
    await grow();
    await expect.poll(() => heard.every((heads) => heads.length > 0), { timeout: 5_000 }).toBe(true);
    expect(wasLatest).not.toContain(false);
    expect(heard[0].at(-1)?.hash).toBe(source.latest?.hash);
    await source.close();
  });

  test(`${name}: a listener that unsubscribed is no longer notified`, async () => {
    const { source, grow } = await make();
    const heard: Head[] = [];
    source.onHead(() => undefined);
    const unsubscribe = source.onHead((head) => void heard.push(head));
    unsubscribe();
    const before = source.latest?.number ?? -1n;
    await grow();
    await expect.poll(() => (source.latest?.number ?? -1n) > before, { timeout: 5_000 }).toBe(true);
    expect(heard).toEqual([]);
    await source.close();
  });
}
