// Example values of the OpenAPI document. The requests work on the local system (`npm start`): they use its
// chains and currencies. The answers are shortened answers of the local system.
const ORIGIN = 72100117;
const DESTINATION = 72100228;
const NATIVE = "0x0000000000000000000000000000000000000000";
const USDC = "0xd416ea5f70f471fd77d0a3d5d3bb18982e72656f";
const USER = "0x7e57000000000000000000000000000000000001";
const RECIPIENT = "0x7e57000000000000000000000000000000000002";
const REQUEST_ID = "0x1c6894bf2835866b37e6c2cc71533a2f3050632849a2beb31dcd4d0bf74f4256";
const SPONSOR = "0x67fd32b23272637c03fc4e9600cc9839d1bffa73";
const CREATED_AT = 1795431685324;
const ETH_ORIGIN = {
  id: "eth",
  chainId: ORIGIN,
  address: NATIVE,
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  supportsBridging: true,
  metadata: { logoURI: "", verified: true },
};
const USDC_ORIGIN = {
  id: "usdc",
  chainId: ORIGIN,
  address: USDC,
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  supportsBridging: true,
  metadata: { logoURI: "", verified: true },
};
const USDC_DESTINATION = {
  id: "usdc",
  chainId: DESTINATION,
  address: USDC,
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  supportsBridging: true,
  metadata: { logoURI: "", verified: true },
};

function money(currency: object, amount: string, formatted: string, usd: string, minimum = amount): object {
  return { currency, amount, amountFormatted: formatted, amountUsd: usd, minimumAmount: minimum };
}

const quoteRequest = {
  user: USER,
  recipient: RECIPIENT,
  originChainId: ORIGIN,
  originCurrency: USDC,
  destinationChainId: DESTINATION,
  destinationCurrency: USDC,
  amount: "25000000",
  tradeType: "EXACT_INPUT",
};

const price = {
  fees: {
    gas: money(ETH_ORIGIN, "1555638127776", "0.000001555638127776", "0.003889"),
    relayer: money(USDC_ORIGIN, "12078", "0.012078", "0.012078"),
    relayerGas: money(USDC_ORIGIN, "12078", "0.012078", "0.012078"),
    relayerService: money(USDC_ORIGIN, "0", "0", "0.000000"),
    app: money(USDC_ORIGIN, "0", "0", "0.000000"),
    subsidized: money(USDC_ORIGIN, "0", "0", "0.000000"),
  },
  details: {
    operation: "bridge",
    sender: USER,
    recipient: RECIPIENT,
    currencyIn: money(USDC_ORIGIN, "25000000", "25", "25.000000"),
    currencyOut: money(USDC_DESTINATION, "24987922", "24.987922", "24.987922", "24862983"),
    refundCurrency: money(USDC_ORIGIN, "25000000", "25", "25.000000", "24981935"),
    totalImpact: { usd: "-0.012078", percent: "-0.05" },
    swapImpact: { usd: "0.000000", percent: "0.00" },
    expandedPriceImpact: {
      swap: { usd: "0.000000" },
      execution: { usd: "-0.012078" },
      service: { usd: "0.000000" },
      relay: { usd: "0.000000" },
      app: { usd: "0.000000" },
      sponsored: { usd: "0.000000" },
    },
    rate: "0.99951688",
    slippageTolerance: {
      origin: { usd: "0.000000", value: "0", percent: "0.00" },
      destination: { usd: "0.124939", value: "124939", percent: "0.50" },
      total: "50",
    },
    timeEstimate: 3,
    userBalance: "0",
    isFixedRate: false,
    route: {
      origin: {
        inputCurrency: money(USDC_ORIGIN, "25000000", "25", "25.000000"),
        outputCurrency: money(USDC_ORIGIN, "25000000", "25", "25.000000"),
        router: "depository",
      },
      destination: {
        inputCurrency: money(USDC_DESTINATION, "24987922", "24.987922", "24.987922", "24862983"),
        outputCurrency: money(USDC_DESTINATION, "24987922", "24.987922", "24.987922", "24862983"),
        router: "solver",
      },
    },
  },
};

const issuedKey = {
  id: "0123456789abcdef",
  label: "backend",
  scopes: ["quote", "execute", "fast-fill", "read"],
  referrers: [],
  origins: [],
  fundingAddress: null,
  rules: { maxCallValueUsd: "100", dailyUsd: "500" },
  limits: {},
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  revokedAt: null,
  previousSecretUntil: null,
};

/** Examples by the names of schemas and of required parameters. */
export const openapiExamples = {
  schemas: {
    QuoteRequest: quoteRequest,
    QuoteAnswer: {
      requestId: REQUEST_ID,
      steps: [
        {
          id: "approve",
          action: "Confirm transaction in your wallet",
          description: "Approve 25 USDC for the payment",
          kind: "transaction",
          requestId: REQUEST_ID,
          depositAddress: "",
          items: [
            {
              status: "incomplete",
              data: {
                from: USER,
                to: USDC,
                data: "0x095ea7b3000000000000000000000000be1a86370ef893e948cb88f013b34fd6f86b926e00000000000000000000000000000000000000000000000000000000017d7840",
                value: "0",
                chainId: ORIGIN,
                gas: "92632",
                maxFeePerGas: "17801096",
                maxPriorityFeePerGas: "10000000",
              },
            },
          ],
        },
        {
          id: "deposit",
          action: "Confirm transaction in your wallet",
          description: "Deposit 25 USDC to start the request",
          kind: "transaction",
          requestId: REQUEST_ID,
          depositAddress: "",
          items: [
            {
              status: "incomplete",
              data: {
                from: USER,
                to: "0xbe1a86370ef893e948cb88f013b34fd6f86b926e",
                data: "0xe80179520000000000000000000000007e57000000000000000000000000000000000001000000000000000000000000d416ea5f70f471fd77d0a3d5d3bb18982e72656f00000000000000000000000000000000000000000000000000000000017d78402e3c38c6a7947ba2f4f4f73c0389f3072067677392462ee8ce163517dd3ef01d",
                value: "0",
                chainId: ORIGIN,
                maxFeePerGas: "17801096",
                maxPriorityFeePerGas: "10000000",
              },
              check: { endpoint: `/intents/status/v3?requestId=${REQUEST_ID}`, method: "GET" },
            },
          ],
        },
      ],
      ...price,
      expiresAt: 1795431745324,
      fillDeadline: 1796036485324,
      protocol: {
        v2: {
          orderId: "0x2e3c38c6a7947ba2f4f4f73c0389f3072067677392462ee8ce163517dd3ef01d",
          hubType: "onchain",
          orderData: {
            version: "v1",
            solverChainId: "local-a",
            solver: "0x63916344eef531e91e03239f65f319685e05dd3a",
            salt: "0x04fa21428e4fab455e559574d95090681add2a537ace95723703999f2701de37",
            inputs: [
              {
                payment: { chainId: "local-a", currency: USDC, amount: "25000000", weight: "1" },
                refunds: [
                  {
                    chainId: "local-a",
                    recipient: USER,
                    currency: USDC,
                    minimumAmount: "24981935",
                    deadline: 1796642186,
                    extraData: "0x000000000000000000000000390e39de859b12d97c2bb145f281b05d849bec75",
                  },
                ],
              },
            ],
            output: {
              chainId: "local-b",
              payments: [
                {
                  recipient: RECIPIENT,
                  currency: USDC,
                  minimumAmount: "24862983",
                  expectedAmount: "24987922",
                },
              ],
              calls: [],
              deadline: 1796037386,
              extraData: "0x000000000000000000000000390e39de859b12d97c2bb145f281b05d849bec75",
            },
            fees: [],
          },
          paymentDetails: {
            chainId: "local-a",
            depository: "0xbe1a86370ef893e948cb88f013b34fd6f86b926e",
            currency: USDC,
            amount: "25000000",
          },
        },
      },
    },
    PriceAnswer: {
      ...price,
      deprecation: {
        message: "Use /quote/v2 instead",
        deprecatedAt: "2026-11-01T00:00:00.000Z",
        sunsetAt: "2027-11-01T00:00:00.000Z",
        successor: "/quote/v2",
      },
    },
    IntentStatus: {
      requestId: REQUEST_ID,
      status: "success",
      inTxHashes: ["0x8cc1ffe0cc79fd732b981a6a9707c1f4a85e8057569c58a9a4a8179597fca773"],
      txHashes: ["0x85a16ec6a9f5f23c970999060cb47fb9a0364875654099f45937cfe7c3ec89d9"],
      refundTxHashes: [],
      updatedAt: 1795431821394,
      time: 1795431821394,
      quoteCreatedAt: 1795431813899,
      originChainId: ORIGIN,
      destinationChainId: DESTINATION,
      failReason: "N/A",
      refundFailReason: "N/A",
      final: true,
      fundsAt: "recipient",
      nextAction: "none",
      pollAfterMs: 0,
    },
    CurrenciesRequest: { chainIds: [ORIGIN], term: "usdc" },
    ListedCurrency: {
      id: "usdc",
      chainId: ORIGIN,
      address: USDC,
      symbol: "USDC",
      name: "USD Coin",
      decimals: 6,
      vmType: "evm",
      metadata: { logoURI: "", verified: true, isNative: false },
    },
    TokenPrice: { price: 1 },
    TokenPriceText: { price: "1" },
    ChainHealth: {
      healthy: true,
      chainId: ORIGIN,
      disabled: false,
      blockProductionLagging: false,
      pricesGas: true,
      blockNumber: "48",
      blockAgeMs: 155,
      scannedBlockNumber: "48",
      scanLagBlocks: 0,
      scanLagSeconds: 0,
      effects: "traced",
      nodeLatencyMs: 6,
      endpoints: [
        { host: "rpc.one.example", state: "ok", lead: true, blockNumber: "48", latencyMs: 6 },
        { host: "rpc.two.example", state: "lagging", lead: false, blockNumber: "41", latencyMs: 9 },
      ],
    },
    ChainLiquidity: {
      liquidity: [
        {
          chainId: ORIGIN,
          currencyId: "eth",
          symbol: "ETH",
          address: NATIVE,
          decimals: 18,
          balance: "99999999840400968010058",
          amountUsd: "249999999.601002",
        },
        {
          chainId: ORIGIN,
          currencyId: "usdc",
          symbol: "USDC",
          address: USDC,
          decimals: 6,
          balance: "100010000000000",
          amountUsd: "100010000.000000",
        },
      ],
    },
    ExecuteRequest: {
      executionKind: "rawCalls",
      data: {
        chainId: ORIGIN,
        to: USDC,
        data: "0x70a082310000000000000000000000007e57000000000000000000000000000000000001",
        value: "0",
      },
      executionOptions: { referrer: "shop.example", subsidizeFees: true },
    },
    ExecuteAnswer: { message: "Transaction submitted", requestId: REQUEST_ID },
    FastFillRequest: { requestId: REQUEST_ID, maxFillAmountUsd: "30" },
    IndexTransactionRequest: {
      txHash: "0xabababababababababababababababababababababababababababababababab",
      chainId: String(ORIGIN),
      requestId: REQUEST_ID,
    },
    AppBalances: {
      currency: USDC_ORIGIN,
      amount: "10000000000",
      amountFormatted: "10000",
      amountUsd: "10000.000000",
      minimumAmount: "10000000000",
      balances: [
        {
          currency: USDC_ORIGIN,
          amount: "10000000000",
          amountFormatted: "10000",
          amountUsd: "10000.000000",
          minimumAmount: "10000000000",
          pendingAmount: "0",
          owedAmount: "0",
        },
      ],
      totalBalanceUsd: 10000,
      outstandingFastFillBalanceUsd: 0,
      availableBalanceUsd: 10000,
    },
    CreateWebhookRequest: { url: "http://127.0.0.1:8080/hook", label: "shop" },
    IssuedWebhook: {
      secret: "whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
      webhook: {
        id: "wh_K7E-EHvllKPJJoLS",
        url: "http://127.0.0.1:8080/hook",
        label: "shop",
        headerNames: [],
        createdAt: 1795431685515,
        updatedAt: 1795431685515,
        previousSecretUntil: null,
        failingSince: null,
        lastError: null,
        lastDeliveredAt: null,
        waiting: 0,
        failed: 0,
      },
    },
    CreateApiKeyRequest: {
      label: "backend",
      scopes: issuedKey.scopes,
      rules: issuedKey.rules,
    },
    ChangeApiKeyRequest: { rules: issuedKey.rules },
    IssuedApiKey: {
      key: "cwk_0123456789abcdef_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
      apiKey: issuedKey,
    },
    ApiKey: issuedKey,
  },
  parameters: {
    chainId: ORIGIN,
    originChainId: ORIGIN,
    destinationChainId: DESTINATION,
    requestId: REQUEST_ID,
    address: USDC,
    user: USER,
    wallet: SPONSOR,
  },
};
