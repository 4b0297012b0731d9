import { PERPS_DECIMALS, type Address } from "@causeway/domain";
import { formatDecimal } from "./decimal.ts";
import { LOCAL_USDC, type HyperliquidOptions } from "./hyperliquid-options.ts";
import type { HyperliquidState } from "./hyperliquid-state.ts";
import { Undecodable } from "./refusal.ts";

/** Hyperliquid's name for a token's symbol. */
const SYMBOL = "coin";

type Question = Readonly<Record<string, unknown>>;

/**
 * The response to a request at `/info`.
 *
 * @throws Undecodable for an unknown request
 */
export function answerInfo(
  state: HyperliquidState,
  question: Question,
  options: HyperliquidOptions,
): unknown {
  switch (question["type"]) {
    case "clearinghouseState":
      return clearinghouseState(state, userOf(question), dexOf(question));
    case "spotClearinghouseState":
      return spotState(state, userOf(question));
    case "spotMeta":
      return spotMeta(state);
    case "perpDexs":
      return [null, ...state.dexes.map((name) => ({ name, fullName: name, deployer: null }))];
    case "preTransferCheck":
      return preTransferCheck(state, userOf(question));
    case "userNonFundingLedgerUpdates": {
      const from = timeOf(question, "startTime") ?? 0;
      const to = timeOf(question, "endTime") ?? Number.MAX_SAFE_INTEGER;
      return state.history.updatesOf(userOf(question), from, to, options.pageSize ?? 500);
    }
    default:
      throw new Undecodable("unknown type of request");
  }
}

/** The explorer's response. @throws Undecodable */
export function answerExplorer(
  state: HyperliquidState,
  question: Question,
  options: HyperliquidOptions,
): unknown {
  switch (question["type"]) {
    case "txDetails": {
      const tx = state.history.transaction(String(question["hash"]));
      return tx === undefined
        ? { type: "error", message: "Transaction not found" }
        : { type: "txDetails", tx };
    }
    case "userDetails":
      return {
        type: "userDetails",
        txs: state.history.ofUser(userOf(question), options.explorerLimit ?? 300),
      };
    default:
      throw new Undecodable("unknown type of request");
  }
}

function clearinghouseState(state: HyperliquidState, user: Address, dex: string): unknown {
  const balance = state.balances.of(user, { dex, tokenId: LOCAL_USDC.tokenId });
  const value = formatDecimal(balance, PERPS_DECIMALS);
  const summary = { accountValue: value, totalNtlPos: "0.0", totalRawUsd: value, totalMarginUsed: "0.0" };
  return {
    marginSummary: summary,
    crossMarginSummary: summary,
    crossMaintenanceMarginUsed: "0.0",
    withdrawable: value,
    assetPositions: [],
    time: state.now(),
  };
}

function spotState(state: HyperliquidState, user: Address): unknown {
  const balances = state.tokens
    .map((token) => ({
      token,
      total: state.balances.of(user, { dex: "spot", tokenId: token.tokenId }),
    }))
    .filter(({ total }) => total > 0n)
    .map(({ token, total }) => ({
      [SYMBOL]: token.name,
      token: token.index,
      total: formatDecimal(total, token.weiDecimals),
      hold: "0.0",
      entryNtl: "0.0",
    }));
  return { balances };
}

function spotMeta(state: HyperliquidState): unknown {
  const tokens = state.tokens.map(({ name, szDecimals, weiDecimals, index, tokenId }) => ({
    name,
    szDecimals,
    weiDecimals,
    index,
    tokenId,
    isCanonical: true,
    evmContract: null,
    fullName: null,
    deployerTradingFeeShare: "0.0",
  }));
  const universe = state.tokens
    .filter(({ tokenId }) => tokenId !== LOCAL_USDC.tokenId)
    .map(({ name, index }, position) => ({
      name: `${name}/USDC`,
      tokens: [index, LOCAL_USDC.index],
      index: position,
      isCanonical: true,
    }));
  return { universe, tokens };
}

function preTransferCheck(state: HyperliquidState, user: Address): unknown {
  return {
    fee: formatDecimal(state.activationFeeFor(user), PERPS_DECIMALS),
    isSanctioned: false,
    userExists: state.balances.has(user),
    userHasSentTx: state.history.ofUser(user, 1).length > 0,
  };
}

function userOf(question: Question): Address {
  const user = question["user"];
  if (typeof user !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(user)) throw new Undecodable("invalid user");
  return user.toLowerCase() as Address;
}

function dexOf(question: Question): string {
  const dex = question["dex"] ?? "";
  if (typeof dex !== "string") throw new Undecodable("invalid dex");
  return dex;
}

function timeOf(question: Question, name: string): number | undefined {
  const time = question[name];
  if (time === undefined || time === null) return undefined;
  if (typeof time !== "number" || !Number.isSafeInteger(time)) throw new Undecodable(`invalid ${name}`);
  return time;
}
