import { expect, test } from "vitest";
import type { FakeDiscovery } from "../fakes/discovery.ts";

/** What every discovery service must report about a chain that it knows. */
export function discoveryContract(
  name: string,
  make: () => Promise<{
    readonly routes: Pick<
      FakeDiscovery,
      "searchCurrencies" | "chainLiquidity" | "readChainHealth" | "tokenPrice"
    >;
    readonly chainId: number;
  }>,
): void {
  test(`${name}: listed currencies are complete: id, chain, address, decimals, metadata`, async () => {
    const { routes, chainId } = await make();
    const listed = await routes.searchCurrencies({ chainIds: [chainId], limit: 5 } as never);
    expect(listed.length).toBeGreaterThan(0);
    for (const currency of listed)
      expect(currency).toMatchObject({
        chainId,
        id: expect.stringMatching(/./),
        address: expect.stringMatching(/^0x[0-9a-f]{40}$/i),
        decimals: expect.any(Number),
        metadata: { verified: expect.any(Boolean), isNative: expect.any(Boolean) },
      });
  });

  test(`${name}: liquidity and health name the requested chain`, async () => {
    const { routes, chainId } = await make();
    const { liquidity } = await routes.chainLiquidity(chainId);
    expect(liquidity.length).toBeGreaterThan(0);
    for (const entry of liquidity)
      expect(entry).toMatchObject({ chainId, balance: expect.stringMatching(/^\d+$/) });
    expect(await routes.readChainHealth(chainId)).toMatchObject({ chainId, healthy: expect.any(Boolean) });
  });

  test(`${name}: a price is positive, with 18 decimals`, async () => {
    const { routes, chainId } = await make();
    expect(await routes.tokenPrice(chainId, `0x${"00".repeat(20)}`)).toBeGreaterThan(10n ** 18n);
  });
}
