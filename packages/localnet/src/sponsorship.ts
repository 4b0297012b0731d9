import { fundingChallengeAnswer, issuedApiKeyAnswer } from "@causeway/wire";
import type { Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { LocalAccount } from "./accounts.ts";
import { ApiRefused } from "./api-client.ts";
import { topUp, untilAppBalance } from "./app-balance.ts";
import type { ApiKeyEndpoint } from "./endpoints.ts";
import { ANSWER_WITHIN_MS, PATIENCE_MS, type NodeAddress } from "@causeway/testkit";

/** Opens the admin API of the local system, and nothing else. */
export const localOperatorToken = "local-operator-token-known-to-everyone";

/** An app that pays for its users: its key, and the balance it pays from. */
export interface Sponsorship {
  readonly apiKey: ApiKeyEndpoint;
  /**
   * Resolves when the service has credited the app balance, to what it then is in smallest units; takes some
   * seconds.
   */
  readonly funded: Promise<bigint>;
}

export interface SponsorshipOptions {
  readonly apiUrl: string;
  /** Its wallet pays. */
  readonly sponsor: LocalAccount;
  readonly solver: Address;
  /** Chain and token of the app balance. */
  readonly home: NodeAddress;
  readonly token: Address;
  /** Smallest units. */
  readonly amount: bigint;
}

const scopes = ["quote", "execute", "fast-fill", "read"] as const;

/**
 * Has the operator make a key for an app, proves that the sponsor's wallet is the app's, and pays into its
 * app balance by a transfer on the chain.
 *
 * @throws ApiRefused, LocalTransactionFailed
 */
export async function arrangeSponsorship(options: SponsorshipOptions): Promise<Sponsorship> {
  const { apiUrl, sponsor } = options;
  const admin = adminOf(apiUrl);
  const issued = await admin("/admin/keys", {
    label: "local sponsor",
    scopes,
    // Demos and tests fast fill quotes before they are paid, and sponsor calls that carry native
    // token.
    rules: { allowUnsubmitted: true, maxCallValueUsd: "100" },
  });
  const { key, apiKey } = issuedApiKeyAnswer.parse(issued);
  const link = `/admin/keys/${apiKey.id}/funding-address`;
  const challenge = await admin(`${link}/challenge`, { address: sponsor.address });
  const { message } = fundingChallengeAnswer.parse(challenge);
  const signature = await privateKeyToAccount(sponsor.privateKey).signMessage({ message });
  await admin(link, { address: sponsor.address, signature });
  // Must be mined before the solver's balance is read: elsewhere only the service's own records are awaited.
  await topUp(options.home, {
    token: options.token,
    amount: options.amount,
    from: sponsor,
    solver: options.solver,
    credited: sponsor.address,
  });
  const funded = untilAppBalance(
    apiUrl,
    { wallet: sponsor.address, token: options.token, amount: options.amount },
    AbortSignal.timeout(PATIENCE_MS),
  );
  // The caller may await it. If it does not, a rejection must not end the process.
  funded.catch(() => undefined);
  return { apiKey: { id: apiKey.id, key, scopes, fundingAddress: sponsor.address }, funded };
}

/** Calls of the operator. */
function adminOf(apiUrl: string): (path: string, body: object) => Promise<unknown> {
  return async (path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${localOperatorToken}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    if (!response.ok)
      throw new ApiRefused({ request: `POST ${path}`, httpStatus: response.status, body: text });
    return JSON.parse(text);
  };
}
