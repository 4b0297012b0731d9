import { startSystem, type System } from "@causeway/localnet";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, createWallet, type Client } from "./client.ts";
import { portBaseOf } from "./port-bases.ts";

// At startup the local system credits the sponsor's app balance with a top-up.

interface Balances {
  readonly currency: { readonly chainId: number; readonly address: Address };
  readonly amount: string;
  readonly balances: readonly { readonly amount: string; readonly pendingAmount: string }[];
  readonly availableBalanceUsd: number;
}

interface ClaimAnswer {
  readonly steps: readonly {
    readonly items: readonly {
      readonly check?: object;
      readonly data: {
        readonly sign: { readonly signatureKind: string; readonly message: Hex };
        readonly post: { readonly endpoint: string; readonly method: string; readonly body: object };
      };
    }[];
  }[];
  readonly claim: { readonly amount: string; readonly fee: string };
}

let system: System;
let api: Client;
let wallet: Address;

beforeAll(async () => {
  system = await startSystem({
    env: {},
    portBase: portBaseOf("app-balance"),
    oracles: 0,
    durable: false,
    users: 1,
  });
  api = createClient(system.endpoints.api.url);
  const [key] = system.endpoints.apiKeys;
  if (key === undefined) throw new Error("the system has no API key");
  wallet = key.fundingAddress;
});
afterAll(async () => await system.stop());

const balances = async (): Promise<Balances> => {
  const { code, body } = await api.call<Balances>(`/app-fees/${wallet}/balances`);
  expect(code).toBe(200);
  return body;
};

const withKey = async <T>(path: string): Promise<T> => {
  const [key] = system.endpoints.apiKeys;
  const answer = await fetch(`${system.endpoints.api.url}${path}`, {
    headers: { "x-api-key": key?.key ?? "" },
  });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
};

async function until<T>(read: () => Promise<T>, isExpected: (seen: T) => boolean): Promise<T> {
  for (const endMs = Date.now() + 60_000; ;) {
    const seen = await read();
    if (isExpected(seen)) return seen;
    if (Date.now() > endMs) throw new Error(`timed out; last value: ${JSON.stringify(seen)}`);
    await sleep(100);
  }
}

test("an on-chain top-up credits the app balance, and a signature by the app's wallet pays it out", async () => {
  const before = await until(balances, ({ amount }) => BigInt(amount) > 0n);
  const { chainId, address: currency } = before.currency;
  const recipient = privateKeyToAddress(generatePrivateKey());
  const { code, body } = await api.call<ClaimAnswer>(`/app-fees/${wallet}/claim`, {
    chainId,
    currency,
    recipient,
    amount: "5000000",
  });
  expect(code).toBe(200);
  const [item] = body.steps.flatMap((step) => step.items);
  if (item === undefined) throw new Error("the claim has no item");
  expect(item.check, "clients would wait for it forever").toBeUndefined();

  const { sign, post } = item.data;
  const sponsorAccount = system.endpoints.accounts.find(
    ({ address }) => address.toLowerCase() === wallet.toLowerCase(),
  );
  if (sponsorAccount === undefined) throw new Error("no local account has the sponsor's address");
  const account = privateKeyToAccount(sponsorAccount.privateKey);
  const signature = await account.signMessage({ message: { raw: sign.message } });
  const posted = await api.call<{ message: string }>(`${post.endpoint}?signature=${signature}`, post.body);
  expect([posted.code, typeof posted.body.message]).toEqual([200, "string"]);

  const path = `/app-fees/${wallet}/claims`;
  const { claims } = await until(
    () => withKey<{ claims: readonly { status: string; txHash: Hex | null; recipient: Address }[] }>(path),
    (seen) => seen.claims.some(({ status }) => status === "success"),
  );
  expect(claims).toMatchObject([{ status: "success", recipient: recipient.toLowerCase() }]);
  const chains = await api.chains();
  expect(await createWallet(sponsorAccount.privateKey, chains).balance(chainId, currency, recipient)).toBe(
    5_000_000n,
  );
  const after = await balances();
  expect(BigInt(before.amount) - BigInt(after.amount)).toBe(5_000_000n + BigInt(body.claim.fee));
  expect(after.balances.map(({ pendingAmount }) => pendingAmount)).toEqual(["0"]);

  const { events } = await withKey<{ events: readonly { context: string }[] }>(`/balance-events/${wallet}`);
  expect(new Set(events.map(({ context }) => context))).toEqual(
    new Set(["balance-topup", "set-pending-amount", "claim"]),
  );
});
