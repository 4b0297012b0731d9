import { hashTypedData, hexToNumber, parseSignature, toHex, type Hex, type TypedDataDomain } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { ANSWER_WITHIN_MS } from "@causeway/testkit";

const zero = "0x0000000000000000000000000000000000000000";
const typeFields = z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })));

/** The first step of a withdrawal: typed data to sign, and where to post the signature. */
const signatureItem = z.object({
  sign: z.object({
    domain: z.record(z.string(), z.unknown()),
    types: typeFields,
    primaryType: z.string(),
    value: z.record(z.string(), z.unknown()),
  }),
  post: z.object({
    endpoint: z.string(),
    method: z.literal("POST"),
    body: z.record(z.string(), z.unknown()),
  }),
});

/** The second step: a Hyperliquid action. */
const actionItem = z.object({
  action: z.object({ type: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  nonce: z.number().optional(),
  eip712Types: typeFields,
  eip712PrimaryType: z.string(),
});

/** A user's account on Hyperliquid. */
export interface HyperliquidWallet {
  readonly address: Hex;
  /** Withdrawable amount of the perps account, in Hyperliquid's format. */
  withdrawable(): Promise<string>;
  /** Signs the first step and posts it to the API. @throws Error if it is refused */
  authorize(apiUrl: string, data: unknown): Promise<void>;
  /** Signs the action of the second step and posts it to Hyperliquid. @throws Error if it is refused */
  execute(data: unknown): Promise<void>;
}

/**
 * @param chainId of the wallet's current chain: it is part of both signatures, but does not affect where
 * funds go
 * @param domainName name in Hyperliquid's own signing domain
 */
export function createHyperliquidWallet(
  hyperliquidUrl: string,
  privateKey: Hex,
  chainId: number,
  domainName = "ExchangeSignTransaction",
): HyperliquidWallet {
  const account = privateKeyToAccount(privateKey);
  const post = async (url: string, body: unknown): Promise<unknown> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${new URL(url).pathname} returned ${response.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const sign = async (
    domain: TypedDataDomain,
    types: z.infer<typeof typeFields>,
    primaryType: string,
    message: Record<string, unknown>,
  ): Promise<Hex> => await account.sign({ hash: hashTypedData({ domain, types, primaryType, message }) });

  return {
    address: account.address,
    withdrawable: async () => {
      const state = await post(`${hyperliquidUrl}/info`, {
        type: "clearinghouseState",
        user: account.address,
      });
      return z.object({ withdrawable: z.string() }).parse(state).withdrawable;
    },
    authorize: async (apiUrl, data) => {
      const {
        sign: { domain, types, primaryType, value },
        post: { endpoint, body },
      } = signatureItem.parse(data);
      const { EIP712Domain: _, ...signedTypes } = types;
      const signature = await sign({ ...domain, chainId }, signedTypes, primaryType, value);
      const url = endpoint.startsWith("http") ? endpoint : `${apiUrl}${endpoint}`;
      await post(`${url}?signature=${signature}`, { ...body, signatureChainId: chainId });
    },
    execute: async (data) => {
      const { action, eip712Types, eip712PrimaryType } = actionItem.parse(data);
      const signed = { ...action.parameters, type: action.type, signatureChainId: toHex(chainId) };
      const signature = parseSignature(
        await sign(
          { name: domainName, version: "1", chainId, verifyingContract: zero },
          eip712Types,
          eip712PrimaryType,
          signed,
        ),
      );
      const answer = await post(`${hyperliquidUrl}/exchange`, {
        action: signed,
        nonce: Number(action.parameters["nonce"] ?? action.parameters["time"]),
        signature: { r: signature.r, s: signature.s, v: hexToNumber(toHex(signature.yParity + 27)) },
      });
      const { status } = z.object({ status: z.string() }).parse(answer);
      if (status !== "ok")
        throw new Error(`Hyperliquid refused the action: ${JSON.stringify(answer).slice(0, 300)}`);
    },
  };
}
