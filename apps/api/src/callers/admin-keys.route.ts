import type { Address, Hex } from "@causeway/domain";
import {
  apiKeyAnswer,
  apiKeyParams,
  apiKeysAnswer,
  changeApiKeyRequest,
  createApiKeyRequest,
  fundingChallengeAnswer,
  fundingChallengeRequest,
  issuedApiKeyAnswer,
  linkFundingAddressRequest,
  rotateApiKeyRequest,
} from "@causeway/wire";
import type { Secret } from "@causeway/config";
import type { KeyAdmin } from "./key-admin.port.ts";
import { apiKeyJson, keyChanges, newKeySettings } from "./api-key-json.ts";
import { adminErrors, adminListErrors, adminRoute } from "../http/operator-token.route.ts";
import type { TypedServer } from "../http/typed.route.ts";

interface AdminKeysRouteNeeds {
  readonly keyAdmin: KeyAdmin;
  /** Undefined: keys are not managed over HTTP. */
  readonly operatorToken: Secret | undefined;
}

/** `/admin/keys`: manages API keys. The routes exist only if an operator token is configured. */
export function adminKeysRoutes(app: TypedServer, { keyAdmin, operatorToken }: AdminKeysRouteNeeds): void {
  if (operatorToken === undefined) return;
  const admin = adminRoute(operatorToken.reveal());

  app.post(
    "/admin/keys",
    admin({
      operationId: "createApiKey",
      summary: "Create an API key; its secret is shown only once",
      body: createApiKeyRequest,
      response: { 200: issuedApiKeyAnswer, ...adminErrors },
    }),
    async ({ body }) => {
      const { key, record } = await keyAdmin.create(newKeySettings(body));
      return { key, apiKey: apiKeyJson(record) };
    },
  );

  app.get(
    "/admin/keys",
    admin({
      operationId: "listApiKeys",
      summary: "List all API keys, including revoked ones",
      response: { 200: apiKeysAnswer, ...adminListErrors },
    }),
    async () => ({ apiKeys: (await keyAdmin.list()).map(apiKeyJson) }),
  );

  app.patch(
    "/admin/keys/:id",
    admin({
      operationId: "updateApiKey",
      summary: "Change the given fields of an API key",
      params: apiKeyParams,
      body: changeApiKeyRequest,
      response: { 200: apiKeyAnswer, ...adminErrors },
    }),
    async ({ params, body }) => apiKeyJson(await keyAdmin.change(params.id, keyChanges(body))),
  );

  app.post(
    "/admin/keys/:id/rotate",
    admin({
      operationId: "rotateApiKey",
      summary: "Rotate an API key's secret; the old one stays valid for `graceSeconds`",
      params: apiKeyParams,
      body: rotateApiKeyRequest,
      response: { 200: issuedApiKeyAnswer, ...adminErrors },
    }),
    async ({ params, body }) => {
      const { key, record } = await keyAdmin.rotate(params.id, body.graceSeconds);
      return { key, apiKey: apiKeyJson(record) };
    },
  );

  app.delete(
    "/admin/keys/:id",
    admin({
      operationId: "revokeApiKey",
      summary: "Revoke an API key permanently, effective within a second",
      params: apiKeyParams,
      response: { 200: apiKeyAnswer, ...adminErrors },
    }),
    async ({ params }) => apiKeyJson(await keyAdmin.revoke(params.id)),
  );

  app.post(
    "/admin/keys/:id/funding-address/challenge",
    admin({
      operationId: "createFundingAddressChallenge",
      summary: "Get the message that a wallet signs to let the key spend the wallet's app balance",
      params: apiKeyParams,
      body: fundingChallengeRequest,
      response: { 200: fundingChallengeAnswer, ...adminErrors },
    }),
    async ({ params, body }) => {
      const { message, expiresAtMs } = await keyAdmin.challengeFundingAddress(
        params.id,
        toWallet(body.address),
      );
      return { message, expiresAt: expiresAtMs };
    },
  );

  app.post(
    "/admin/keys/:id/funding-address",
    admin({
      operationId: "linkFundingAddress",
      summary: "Link a funding wallet by its signature",
      params: apiKeyParams,
      body: linkFundingAddressRequest,
      response: { 200: apiKeyAnswer, ...adminErrors },
    }),
    async ({ params, body }) =>
      apiKeyJson(
        await keyAdmin.linkFundingAddress(
          params.id,
          toWallet(body.address),
          body.signature.toLowerCase() as Hex,
        ),
      ),
  );
}

/** The schema has checked the format. */
const toWallet = (text: string): Address => text.toLowerCase() as Address;
