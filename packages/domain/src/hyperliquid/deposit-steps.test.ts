import fc from "fast-check";
import { hashStruct, hashTypedData } from "viem";
import { expect, test } from "vitest";
import { hyperliquidActionId } from "../withdrawal/hyperliquid-action.ts";
import { MAINNET_USDC_TOKEN_ID } from "./currency.ts";
import { hyperliquidSigningProfiles } from "./signing-profile.ts";
import { hyperliquidTypedData, usdSendAction } from "./transfer-action.ts";
import { buildHyperliquidDepositSteps, type HyperliquidDepositTerms } from "./deposit-steps.ts";

const terms: HyperliquidDepositTerms = {
  wallet: "0x1111111111111111111111111111111111111111",
  depositor: "0x2222222222222222222222222222222222222222",
  orderId: `0x${"ab".repeat(32)}`,
  depository: "0x3333333333333333333333333333333333333333",
  network: "Mainnet",
  signatureChainId: 8453,
  from: { kind: "perps" },
  to: { kind: "perps" },
  token: { name: "USDC", tokenId: MAINNET_USDC_TOKEN_ID },
  amount: 1_250_000_000n,
  decimals: 8,
  nonce: 1_763_761_234_567,
};
const built = buildHyperliquidDepositSteps(hyperliquidSigningProfiles.default, 1337, terms);

test("both steps of a deposit have the same nonce", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (nonce) => {
      const { authorize, deposit } = buildHyperliquidDepositSteps(hyperliquidSigningProfiles.default, 1337, {
        ...terms,
        nonce,
      });
      expect([
        authorize.post.nonce,
        Number(authorize.sign.value["nonce"]),
        deposit.nonce,
        deposit.action.parameters["nonce"],
      ]).toEqual([nonce, nonce, nonce, nonce]);
    }),
  );
});

test("the first step signs the typed data for nonces in the contract", () => {
  expect(built.authorize.sign).toEqual({
    signatureKind: "eip712",
    domain: {
      name: "ServiceNonceMapping",
      version: "2",
      chainId: 8453,
      verifyingContract: "0x0000000000000000000000000000000000000000",
    },
    types: {
      NonceMapping: [
        { name: "chainId", type: "string" },
        { name: "wallet", type: "address" },
        { name: "depositor", type: "address" },
        { name: "id", type: "bytes32" },
        { name: "nonce", type: "uint256" },
      ],
    },
    primaryType: "NonceMapping",
    value: {
      chainId: "exchange",
      wallet: terms.wallet,
      depositor: terms.depositor,
      id: terms.orderId,
      nonce: terms.nonce,
    },
  });
  expect(built.authorize.post).toEqual({
    type: "nonce-mapping",
    walletChainId: 1337,
    wallet: terms.wallet,
    depositor: terms.depositor,
    nonce: terms.nonce,
    id: terms.orderId,
    signatureChainId: 8453,
  });
});

test("the second step is the action in the contract, with its eight fields and their types", () => {
  expect(built.deposit).toEqual({
    action: {
      type: "sendAsset",
      parameters: {
        exchangeChain: "Mainnet",
        destination: terms.depository,
        sourceDex: "",
        destinationDex: "",
        token: "USDC:0x6d1e7cde53ba9467b783cb7c530ce054",
        amount: "12.5",
        fromSubAccount: "",
        nonce: terms.nonce,
      },
    },
    nonce: terms.nonce,
    eip712PrimaryType: "ExchangeTransaction:SendAsset",
    eip712Types: {
      "ExchangeTransaction:SendAsset": [
        { name: "exchangeChain", type: "string" },
        { name: "destination", type: "string" },
        { name: "sourceDex", type: "string" },
        { name: "destinationDex", type: "string" },
        { name: "token", type: "string" },
        { name: "amount", type: "string" },
        { name: "fromSubAccount", type: "string" },
        { name: "nonce", type: "uint64" },
      ],
    },
  });
});

test("uses the real Hyperliquid's names for its networks", () => {
  const { deposit } = buildHyperliquidDepositSteps(hyperliquidSigningProfiles.hyperliquid, 1337, terms);
  expect(deposit.eip712PrimaryType).toBe("HyperliquidTransaction:SendAsset");
  expect(deposit.eip712Types["HyperliquidTransaction:SendAsset"]?.[0]?.name).toBe("hyperliquidChain");
  expect(deposit.action.parameters["hyperliquidChain"]).toBe("Mainnet");
  const action = usdSendAction(hyperliquidSigningProfiles.hyperliquid, {
    ...terms,
    destination: terms.depository,
  });
  expect(hyperliquidTypedData(hyperliquidSigningProfiles.hyperliquid, action).domain.name).toBe(
    "HyperliquidSignTransaction",
  );
  expect(hyperliquidTypedData(hyperliquidSigningProfiles.default, action).domain.name).toBe(
    "ExchangeSignTransaction",
  );
});

test("the signed action contains the hash that identifies its withdrawal", () => {
  for (const profile of Object.values(hyperliquidSigningProfiles)) {
    const action = usdSendAction(profile, { ...terms, destination: terms.depository });
    const { types, primaryType, value } = hyperliquidTypedData(profile, action);
    const id = hyperliquidActionId(
      {
        type: "UsdSend",
        chain: "Mainnet",
        destination: terms.depository,
        amount: "12.5",
        time: BigInt(terms.nonce),
      },
      profile,
    );
    expect(hashStruct({ types, primaryType, data: value })).toBe(id);
  }
});

test("the wallet's chain changes the signature, but not the transfer", () => {
  const onAnotherChain = buildHyperliquidDepositSteps(hyperliquidSigningProfiles.default, 1337, {
    ...terms,
    signatureChainId: 10,
  });
  expect(onAnotherChain.deposit).toEqual(built.deposit);
  const digest = ({ domain, types, primaryType, value }: typeof built.authorize.sign) =>
    hashTypedData({ domain, types, primaryType, message: value });
  expect(digest(onAnotherChain.authorize.sign)).not.toBe(digest(built.authorize.sign));
});

test("refuses to build steps for terms that must not be signed", () => {
  const invalidTerms: Partial<HyperliquidDepositTerms>[] = [
    { amount: 0n },
    { amount: -1n },
    { nonce: 0 },
    { nonce: 1.5 },
    { nonce: 2 ** 60 },
    { depository: "0x12" },
    { wallet: "0x12" },
    { depositor: "0x" },
    { orderId: "0xab" },
    { signatureChainId: 0 },
  ];
  for (const change of invalidTerms)
    expect(
      () => buildHyperliquidDepositSteps(hyperliquidSigningProfiles.default, 1337, { ...terms, ...change }),
      JSON.stringify(change, (_key, value: unknown) => (typeof value === "bigint" ? `${value}` : value)),
    ).toThrow(RangeError);
});
