import { z } from "zod";
import { accountText, evmAddress } from "../scalars.ts";
import { chainCurrency, erc20Currency, solverCurrency } from "./currency.ts";

const ignored = z.union([z.string(), z.array(z.string())]).optional();

/** Query of `GET /chains`. Nothing in it changes the answer. */
export const chainsQuery = z.object({
  includeChains: ignored.describe("Private chains to include; this instance has none."),
  referrer: ignored.describe("Who asks; informative."),
});

export const chainContracts = z
  .object({
    multicall3: evmAddress,
    multicaller: evmAddress.describe("Runs several calls in one transaction."),
    onlyOwnerMulticaller: evmAddress.describe(
      "A multicaller that only the solver may use; the zero address: none is deployed.",
    ),
    serviceReceiver: evmAddress.describe("Forwards native deposits and emits their id."),
    erc20Router: evmAddress.describe("Runs destination calls and returns leftovers."),
    approvalProxy: evmAddress.describe("Pulls approved tokens once, then routes."),
    v3: z.object({ erc20Router: evmAddress, approvalProxy: evmAddress }),
  })
  .meta({ id: "ChainContracts" });

export const chain = z
  .object({
    id: z.int(),
    name: z.string(),
    displayName: z.string(),
    httpRpcUrl: z.string().describe("Public JSON-RPC endpoint for clients."),
    wsRpcUrl: z.string().describe("Public websocket endpoint for clients; empty when there is none."),
    explorerUrl: z
      .string()
      .describe("Base URL of the block explorer; empty where there is none, as on local chains."),
    explorerName: z.string(),
    explorerPaths: z
      .object({
        transaction: z.string().optional(),
        address: z.string().optional(),
        token: z.string().optional(),
      })
      .nullable()
      .describe("Path templates of the explorer, e.g. `/transaction/{TX_HASH}`; null = the usual ones."),
    explorerQueryParams: z.record(z.string(), z.string()).nullable(),
    iconUrl: z.string(),
    logoUrl: z.string().nullable(),
    brandColor: z.string().nullable(),
    statusMessage: z.string().nullable().describe("What is wrong with the chain now; null when nothing is."),
    depositEnabled: z.boolean().describe("The chain may be a destination."),
    tokenSupport: z
      .enum(["All", "Limited"])
      .describe("`Limited`: only listed currencies with `supportsBridging` can be quoted."),
    disabled: z.boolean().describe("No new quotes from or to this chain (incident)."),
    partialDisableLimit: z
      .number()
      .describe(
        "Cap of a quote in smallest units of the native currency while partially disabled; 0 = no cap.",
      ),
    blockProductionLagging: z.boolean(),
    currency: chainCurrency.describe("The native currency."),
    withdrawalFee: z.number().describe("bps charged when this chain is the destination."),
    depositFee: z.number().describe("bps charged when this chain is the origin."),
    surgeEnabled: z.boolean(),
    featuredTokens: z.array(chainCurrency),
    erc20Currencies: z.array(erc20Currency),
    solverCurrencies: z.array(solverCurrency).describe("What the solver fills with on this chain."),
    contracts: chainContracts.or(z.strictObject({})).describe("Empty where the service has no contracts."),
    vmType: z.enum(["evm", "svm", "bvm", "tvm", "tonvm", "hypevm", "lvm", "xrpvm"]),
    baseChainId: z.int().nullable().describe("The chain this one settles on; null when none is known."),
    solverAddresses: z.array(accountText),
    tags: z.array(z.string()),
    protocol: z.object({
      v2: z.object({
        chainId: z.string().nullable().describe("Name of the chain in order data."),
        depository: accountText.nullable(),
        depositoryVault: accountText.nullable(),
      }),
    }),
    exchange: z
      .object({
        apiUrl: z.string().describe("Signed actions are posted to `/exchange` there, questions to `/info`."),
        isTestnet: z.boolean(),
        signingProfile: z
          .enum(["default", "hyperliquid"])
          .describe("Names in its signing types: those of this API, or those of the exchange of that name."),
      })
      .optional()
      .describe("Of a perpetuals exchange."),
  })
  .meta({ id: "Chain" });

export const chainsAnswer = z.object({ chains: z.array(chain) }).meta({ id: "ChainsAnswer" });

export type WireChain = z.infer<typeof chain>;
export type ChainsAnswer = z.infer<typeof chainsAnswer>;
