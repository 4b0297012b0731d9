import {
  balanceEventsAnswer,
  balanceEventsQuery,
  balancesAnswer,
  claimsAnswer,
  holdsAnswer,
  pageQuery,
  walletParams,
} from "@causeway/wire";
import { formatUsd } from "@causeway/domain";
import type { Clock } from "../db/clock.port.ts";
import type { Calls } from "../http/use-cases.port.ts";
import { balancesJson, claimJson, eventJson, holdJson } from "./app-balance-json.ts";
import { readBalanceEvents, readBalances, readClaims, readHolds } from "./read-balances.ts";
import { continuationOf, pageByTime, pageByNumber, cursorText } from "../http/continuation.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { ownWallet, walletOf } from "../http/wallet-access.route.ts";

interface AppBalanceRouteNeeds extends Calls<
  typeof readBalanceEvents | typeof readBalances | typeof readClaims | typeof readHolds
> {
  readonly clock: Clock;
}

/** Routes of app balances. The balances of a wallet are public; its movements, holds and claims are not. */
export function appBalanceRoutes(app: TypedServer, { call, clock }: AppBalanceRouteNeeds): void {
  const tags = ["app balance"];
  const failures = errors(400, 401, 403, 429, 500, 503);
  const config = { access: { kind: "key", scope: "read" } } as const;

  app.get(
    "/app-fees/:wallet/balances",
    {
      schema: {
        tags,
        operationId: "getAppBalances",
        summary: "Get a wallet's app balance",
        description:
          "`currency`, `amount` and `minimumAmount` describe the currency of app balances (`APP_BALANCE_CURRENCY`); `balances` lists every currency, and the `…BalanceUsd` fields cover all of them. Unknown wallets have zero balances.",
        params: walletParams,
        response: { 200: balancesAnswer, ...failures },
      },
    },
    async ({ params }) => balancesJson(await call(readBalances, walletOf(params.wallet))),
  );

  app.get(
    "/balance-events/:wallet",
    {
      config,
      schema: {
        tags,
        operationId: "listBalanceEvents",
        summary: "List every movement of a wallet's app balance, newest first",
        description: "Requires an API key funded by the wallet.",
        params: walletParams,
        querystring: balanceEventsQuery,
        response: { 200: balanceEventsAnswer, ...failures },
      },
    },
    async ({ apiKey, params, query }) => {
      const page = pageByNumber(query);
      const wallet = ownWallet({ apiKey }, params.wallet);
      const [events, { all }] = await Promise.all([
        call(readBalanceEvents, wallet, page),
        call(readBalances, wallet),
      ]);
      return {
        wallet,
        balances: all.map(({ currency, amount }) => ({
          chainId: currency.chainId,
          currency: currency.address,
          amount: amount.toString(),
        })),
        events: events.map((event) => eventJson(wallet, event)),
        ...continuationOf(events, page.limit, ({ id }) => id),
      };
    },
  );

  app.get(
    "/app-fees/:wallet/holds",
    {
      config,
      schema: {
        tags,
        operationId: "listHolds",
        summary: "List the wallet's fast-fill holds, newest first",
        description: "Requires an API key funded by the wallet.",
        params: walletParams,
        querystring: pageQuery,
        response: { 200: holdsAnswer, ...failures },
      },
    },
    async ({ apiKey, params, query }) => {
      const page = pageByTime(query);
      const { holds, exposureUsd } = await call(readHolds, ownWallet({ apiKey }, params.wallet), page);
      const nowMs = clock.nowMs();
      return {
        exposureUsd: formatUsd(exposureUsd),
        holds: holds.map((hold) => holdJson(hold, nowMs)),
        ...continuationOf(holds, page.limit, ({ placedAtMs: atMs, requestId: id }) =>
          cursorText({ atMs, id }),
        ),
      };
    },
  );

  app.get(
    "/app-fees/:wallet/claims",
    {
      config,
      schema: {
        tags,
        operationId: "listClaims",
        summary: "List the wallet's claims, newest first",
        description: "Requires an API key funded by the wallet.",
        params: walletParams,
        querystring: pageQuery,
        response: { 200: claimsAnswer, ...failures },
      },
    },
    async ({ apiKey, params, query }) => {
      const page = pageByTime(query);
      const claims = await call(readClaims, ownWallet({ apiKey }, params.wallet), page);
      return {
        claims: claims.map(claimJson),
        ...continuationOf(claims, page.limit, ({ claim }) =>
          cursorText({ atMs: claim.createdAtMs, id: claim.claimId }),
        ),
      };
    },
  );
}
