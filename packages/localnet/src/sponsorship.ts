import { fundingChallengeAnswer, issuedApiKeyAnswer } from "@causeway/wire";
import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { LocalAccount } from "./accounts.ts";
import { ApiError } from "./api-client.ts";
import { topUp, waitForAppBalance } from "./app-balance.ts";
import type { ApiKeyEndpoint } from "./endpoints.ts";
import { ANSWER_WITHIN_MS, PATIENCE_MS, type NodeAddress } from "@causeway/testkit";

/** Operator token of the local system's admin API only. */
export const localOperatorToken = "local-operator-token-known-to-everyone";

/** An app that sponsors its users: its API key and its app balance. */
export interface Sponsorship {
  readonly apiKey: ApiKeyEndpoint;
  /** Resolves to the app balance in base units once the service has credited it, which takes some seconds. */
  readonly funded: Promise<bigint>;
}

export interface SponsorshipOptions {
  readonly apiUrl: string;
  /** The wallet that pays. */
  readonly sponsor: LocalAccount;
  readonly solver: Address;
  /** Chain and token of the app balance. */
  readonly balanceChain: NodeAddress;
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
}

const scopes = ["quote", "execute", "fast-fill", "read"] as const;

/**
 * Creates an API key for an app as the operator, proves that the app owns the sponsor's wallet, and tops up
 * its app balance with a transfer on chain.
 *
 * @throws ApiError, LocalTransactionFailed
 */
export async function arrangeSponsorship(options: SponsorshipOptions): Promise<Sponsorship> {
  const { apiUrl, sponsor } = options;
  const admin = createAdminClient(apiUrl);
  const issued = await admin("/admin/keys", {
    label: "local sponsor",
    scopes,
    // Demos and tests fast fill unpaid quotes, and sponsor calls with a native value.
    rules: { allowUnsubmitted: true, maxCallValueUsd: "100" },
  });
  const { key, apiKey } = issuedApiKeyAnswer.parse(issued);
  const link = `/admin/keys/${apiKey.id}/funding-address`;
  const challenge = await admin(`${link}/challenge`, { address: sponsor.address });
  const { message } = fundingChallengeAnswer.parse(challenge);
  const signature = await privateKeyToAccount(sponsor.privateKey).signMessage({ message });
  await admin(link, { address: sponsor.address, signature });
  // Must be mined before anyone reads the solver's balance; everything else waits only for the service's
  // records.
  await topUp(options.balanceChain, {
    token: options.token,
    amount: options.amount,
    from: sponsor,
    solver: options.solver,
    credited: sponsor.address,
  });
  const funded = waitForAppBalance(
    apiUrl,
    { wallet: sponsor.address, token: options.token, amount: options.amount },
    AbortSignal.timeout(PATIENCE_MS),
  );
  // If the caller does not await it, a rejection must not end the process.
  funded.catch(() => undefined);
  return { apiKey: { id: apiKey.id, key, scopes, fundingAddress: sponsor.address }, funded };
}

/** Calls the admin API. */
function createAdminClient(apiUrl: string): (path: string, body: object) => Promise<unknown> {
  return async (path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${localOperatorToken}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    if (!response.ok)
      throw new ApiError({ request: `POST ${path}`, httpStatus: response.status, body: text });
    return JSON.parse(text);
  };
}
