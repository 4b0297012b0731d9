import { expect, test } from "vitest";
import type { LiquiditySource, SwapQuestion } from "../../apps/api/src/markets/liquidity/liquidity.port.ts";

/** A source of liquidity, and two tokens that its pools connect. */
export interface KnownPair {
  readonly source: LiquiditySource;
  readonly question: SwapQuestion;
  /** Base units of the input token, with almost no price impact. */
  readonly amountIn: bigint;
}

/** What every source of liquidity must guarantee. */
export function liquiditySourceContract(name: string, make: () => Promise<KnownPair>): void {
  test(`${name}: a larger input never buys less`, async () => {
    const { source, question, amountIn } = await make();
    let before = 0n;
    for (const factor of [1n, 2n, 5n, 20n]) {
      const answer = await source.exactIn(question, amountIn * factor);
      expect(answer?.amountIn).toBe(amountIn * factor);
      expect(answer?.amountOut).toBeGreaterThan(before);
      before = answer?.amountOut ?? 0n;
    }
  });

  test(`${name}: the input for an exact output buys that output, and one base unit less does not`, async () => {
    const { source, question, amountIn } = await make();
    const output = (await source.exactIn(question, amountIn))?.amountOut ?? 0n;
    const answer = await source.exactOut(question, output);
    expect(answer?.amountOut).toBe(output);
    const needed = answer?.amountIn ?? 0n;
    expect(needed).toBeLessThanOrEqual(amountIn);
    expect((await source.exactIn(question, needed))?.amountOut).toBeGreaterThanOrEqual(output);
    expect((await source.exactIn(question, needed - 1n))?.amountOut ?? 0n).toBeLessThan(output);
  });

  test(`${name}: the answer's path leads from token to token through a source of the chain`, async () => {
    const { source, question, amountIn } = await make();
    const answer = await source.exactIn(question, amountIn);
    expect([answer?.path.at(0), answer?.path.at(-1)]).toEqual([question.tokenIn, question.tokenOut]);
    expect(source.sources(question.chainId)).toContain(answer?.source);
    expect(answer?.calls({ kind: "exactIn", limit: 1n, recipient: question.tokenIn })).not.toEqual([]);
  });

  test(`${name}: returns no answer for excluded sources, sources that are not included, and unknown tokens`, async () => {
    const { source, question, amountIn } = await make();
    const all = new Set(source.sources(question.chainId));
    for (const refused of [
      { ...question, excluded: all },
      { ...question, included: new Set(["no such source"]) },
      { ...question, tokenOut: `0x${"de".repeat(20)}` as const },
    ])
      expect(await source.exactIn(refused, amountIn)).toBeUndefined();
  });
}
