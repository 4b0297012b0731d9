import type { Address, HoldState } from "@causeway/domain";
import { availableFor, defaultSponsorshipRules, usdToAmountUp } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import type { ApiKeyIdentity } from "../../apps/api/src/http/api-keys.port.ts";
import type { FastFillOutcome, FastFillRequest } from "../../apps/api/src/balances/fast-fill.port.ts";
import type { HoldRecord, WalletBook } from "../../apps/api/src/balances/ledger.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { appraise } from "../../apps/api/src/balances/appraise.ts";
import { creditTopUp } from "../../apps/api/src/balances/credit-top-up.ts";
import { requestFastFill } from "../../apps/api/src/executions/request-fast-fill.ts";
import { anApiKey } from "../fakes/api-keys.ts";
import type { QuotedRequest, EngineWorld } from "./engine-world.ts";

const ONE_USD = 10n ** 18n;

/** An app with an API key, its own wallet, and an app balance in the first currency of app balances. */
export interface Sponsor {
  readonly key: ApiKeyIdentity;
  readonly wallet: Address;
  /** Requests a fast fill with the key of this app. */
  fastFill(
    quoted: QuotedRequest,
    input?: Partial<FastFillRequest>,
    processServices?: WorkerServices,
  ): Promise<FastFillOutcome>;
  book(): Promise<WalletBook>;
  /** How much the app's fast fills may still use, in USD with 18 decimals. */
  availableUsd(): Promise<bigint>;
  holdOf(quoted: QuotedRequest): Promise<HoldRecord | undefined>;
  holdState(quoted: QuotedRequest): Promise<HoldState | undefined>;
  /** Spends this amount on sponsored fees, in base units of the first currency. */
  spend(amount: bigint): Promise<void>;
  topUp(amount: bigint): Promise<void>;
}

/** @param usd value of the app's balance in whole dollars */
export async function aSponsor(
  world: Pick<EngineWorld, "services">,
  usd: number,
  change: Partial<ApiKeyIdentity> = {},
): Promise<Sponsor> {
  const { services } = world;
  const wallet: Address = `0x${randomBytes(20).toString("hex")}`;
  const key = anApiKey({
    id: randomBytes(8).toString("hex"),
    fundingAddress: wallet,
    ...change,
    // Most tests request fast fills before the user has paid.
    rules: { ...(change.rules ?? defaultSponsorshipRules), allowUnsubmitted: true, ...change.rules },
  });
  const [currency] = services.appBalance.currencies;
  if (currency === undefined) throw new Error("invariant violated: app balances without a currency");
  const unit = { decimals: currency.decimals, priceUsd: await services.prices.usd(currency) };
  const amount = usdToAmountUp(BigInt(usd) * ONE_USD, unit);
  const asset = { chainId: services.appBalance.chainId, currency: currency.address };
  let movements = 0;
  const movementKey = (): string => `test:${wallet}:${++movements}`;
  const topUp = async (added: bigint): Promise<void> =>
    void (await services.uow.run((tx) =>
      creditTopUp(services, tx, { wallet, asset, amount: added, movementKey: movementKey() }),
    ));
  if (amount > 0n) await topUp(amount);
  const inTx = <T>(work: Parameters<typeof services.uow.run<T>>[0]): Promise<T> => services.uow.run(work);
  const holdOf = async (quoted: QuotedRequest): Promise<HoldRecord | undefined> =>
    await inTx((tx) => tx.ledger.lockHold(quoted.requestId));
  const book = async (): Promise<WalletBook> =>
    await inTx((tx) => tx.ledger.lockWallet(wallet, services.clock.nowMs()));
  return {
    key,
    wallet,
    fastFill: async ({ requestId }, input = {}, processServices = services) =>
      await requestFastFill(processServices, { key, requestId, ...input }),
    book,
    availableUsd: async () => availableFor("fastFill", appraise(services, await book()).standing),
    holdOf,
    holdState: async (quoted) => (await holdOf(quoted))?.state,
    topUp,
    spend: async (fees) =>
      await services.uow.run(async (tx) => {
        await tx.ledger.lockWallet(wallet, services.clock.nowMs());
        await tx.ledger.post(
          {
            key: movementKey(),
            context: "pay-fees",
            reason: "spent by a test",
            wallet,
            requestId: undefined,
            entries: [
              { account: "balance", asset, amount: -fees },
              { account: "fees", asset, amount: fees },
            ],
          },
          services.clock.nowMs(),
        );
      }),
  };
}
