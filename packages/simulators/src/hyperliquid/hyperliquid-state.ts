import {
  hyperliquidSigningProfiles,
  parseExactAmount,
  parseHyperliquidToken,
  PERPS_DECIMALS,
  type Address,
  type HyperliquidNetwork,
  type HyperliquidSigningProfile,
} from "@causeway/domain";
import { keccak256, stringToBytes } from "viem";
import { Balances, type BalanceKey } from "./balances.ts";
import { formatDecimal } from "./decimal.ts";
import {
  LOCAL_USDC,
  localHyperliquidTokens,
  type HyperliquidOptions,
  type HyperliquidToken,
} from "./hyperliquid-options.ts";
import { History, type LedgerUpdate } from "./history.ts";
import { readPostedAction, type PostedAction } from "./posted-action.ts";
import { recoverSigner } from "./recover-signer.ts";
import { HyperliquidError } from "./refusal.ts";
import { UsedNonces } from "./used-nonces.ts";

/** One parsed transfer. */
interface Transfer {
  readonly source: Address;
  readonly from: BalanceKey;
  readonly destination: Address;
  readonly to: BalanceKey;
  readonly token: HyperliquidToken;
  readonly amount: bigint;
}

/** Accounts, nonces and history, and the effects of signed actions on them. */
export class HyperliquidState {
  readonly profile: HyperliquidSigningProfile;
  readonly network: HyperliquidNetwork;
  readonly tokens: readonly HyperliquidToken[];
  readonly dexes: readonly string[];
  readonly balances = new Balances();
  readonly history = new History();
  readonly #nonces = new UsedNonces();
  readonly #masters = new Map<Address, Address>();
  readonly #activationFee: bigint;
  readonly #now: () => number;
  #skewMs = 0;
  #height = 1_000;
  #lastTime = 0;
  #pendingFailures: string[] = [];

  constructor(options: HyperliquidOptions) {
    this.profile = options.profile ?? hyperliquidSigningProfiles.default;
    this.network = options.network ?? "Mainnet";
    this.tokens = options.tokens ?? localHyperliquidTokens;
    this.dexes = options.dexes ?? ["xyz"];
    this.#activationFee = parseExactAmount(options.activationFee ?? "0", PERPS_DECIMALS) ?? 0n;
    this.#now = options.now ?? (() => Date.now());
  }

  /** Ms; never decreases. */
  now(): number {
    this.#lastTime = Math.max(this.#lastTime, Math.trunc(this.#now() + this.#skewMs));
    return this.#lastTime;
  }

  /** Advances the clock; never sets it back. */
  advance(ms: number): void {
    this.#skewMs += ms;
  }

  /** Makes the next valid action fail in its block for this reason. */
  failNext(reason: string): void {
    this.#pendingFailures = [...this.#pendingFailures, reason];
  }

  addSubAccount(master: Address, account: Address): void {
    this.#masters.set(account, master);
  }

  tokenNamed(name: string): HyperliquidToken {
    const token = this.tokens.find((candidate) => candidate.name === name);
    if (token === undefined) throw new RangeError(`the local Hyperliquid has no token ${name}`);
    return token;
  }

  /** Sets the fee for a transfer to a new account, in USDC. */
  activationFeeFor(account: Address): bigint {
    return this.balances.has(account) ? 0n : this.#activationFee;
  }

  /** Adds this many unsigned transfers of $1e-8 at one block time. */
  addSimultaneousTransfers(user: Address, destination: Address, transfers: number): void {
    const time = this.now();
    const amount = "0.00000001";
    for (let n = 0; n < transfers; n++) {
      const block = ++this.#height;
      const hash = keccak256(stringToBytes(`${block} ${time} ${user} crowd`));
      const fields = { [this.profile.chainField]: this.network, destination, amount, time: time + n };
      const action = { type: "usdSend", signatureChainId: "0x1", ...fields } as const;
      const delta = { type: "internalTransfer", usdc: amount, user, destination, fee: "0.0" };
      this.history.add({ time, user, action, block, hash, error: null }, delta, [user, destination]);
    }
  }

  /**
   * Executes a posted action. With a valid signature and nonce it is in a block, even if it fails. A failed
   * transfer leaves its nonce unused, so it can be posted again.
   * @throws Undecodable, HyperliquidError
   */
  async accept(body: unknown): Promise<void> {
    const posted = readPostedAction(body, this.profile);
    const { action, nonce } = posted;
    if (action[this.profile.chainField] !== this.network)
      throw new HyperliquidError(`This action is for another network than ${this.network}`);
    const signer = await recoverSigner(this.profile, posted);
    // An action that was changed after signing recovers to an address without an account.
    if (!this.balances.has(signer))
      throw new HyperliquidError(`Must deposit before performing actions. User: ${signer}`);
    const time = this.now();
    this.#nonces.check(signer, nonce, time);

    const block = ++this.#height;
    const hash = keccak256(stringToBytes(`${block} ${time} ${signer} ${nonce}`));
    const record = (error: string | null, delta?: LedgerUpdate["delta"], accounts: Address[] = []): void =>
      this.history.add({ time, user: signer, action, block, hash, error }, delta, accounts);
    try {
      const transfer = this.#readTransfer(posted, signer);
      const [failure, ...later] = this.#pendingFailures;
      this.#pendingFailures = later;
      if (failure !== undefined) throw new HyperliquidError(failure);
      const fee = this.#execute(transfer);
      this.#nonces.use(signer, nonce);
      record(null, deltaOf(posted, transfer, fee), [transfer.source, transfer.destination]);
    } catch (error) {
      if (error instanceof HyperliquidError) record(error.message);
      throw error;
    }
  }

  /** @throws HyperliquidError for transfers that Hyperliquid does not support */
  #readTransfer({ action }: PostedAction, signer: Address): Transfer {
    const destination = String(action["destination"]) as Address;
    const isUsdSend = action.type === "usdSend";
    const token = isUsdSend ? LOCAL_USDC : this.#token(String(action["token"]));
    const amount = parseExactAmount(String(action["amount"]), token.weiDecimals);
    if (amount === undefined || amount === 0n) throw new HyperliquidError("Invalid amount");
    const isSendAsset = action.type === "sendAsset";
    const defaultDex = isUsdSend ? "" : "spot";
    const from = this.#balanceKey(isSendAsset ? String(action["sourceDex"]) : defaultDex, token);
    const to = this.#balanceKey(isSendAsset ? String(action["destinationDex"]) : defaultDex, token);
    const subAccount = isSendAsset ? String(action["fromSubAccount"]) : "";
    if (subAccount !== "" && this.#masters.get(subAccount as Address) !== signer)
      throw new HyperliquidError("Sub-account is not the sender's");
    const source = subAccount === "" ? signer : (subAccount as Address);
    if (source === destination && from.dex === to.dex) throw new HyperliquidError("Cannot self-transfer");
    return { source, from, destination, to, token, amount };
  }

  #token(text: string): HyperliquidToken {
    const { name, tokenId } = parseHyperliquidToken(text) ?? {};
    const token = this.tokens.find((candidate) => candidate.tokenId === tokenId && candidate.name === name);
    if (token === undefined) throw new HyperliquidError(`Unknown token ${text}`);
    return token;
  }

  #balanceKey(dex: string, token: HyperliquidToken): BalanceKey {
    if (dex !== "" && dex !== "spot" && !this.dexes.includes(dex))
      throw new HyperliquidError(`Unknown dex ${dex}`);
    if (dex !== "spot" && token.tokenId !== LOCAL_USDC.tokenId)
      throw new HyperliquidError("Only the collateral token can be held there");
    return { dex, tokenId: token.tokenId };
  }

  /** Atomic. Returns the fee in USDC. */
  #execute({ source, from, destination, to, amount }: Transfer): bigint {
    const fee = this.activationFeeFor(destination);
    const feeKey = from.tokenId === LOCAL_USDC.tokenId ? from : { dex: "spot", tokenId: LOCAL_USDC.tokenId };
    if (fee > 0n && this.balances.of(source, feeKey) < fee + (feeKey === from ? amount : 0n))
      throw new HyperliquidError("Insufficient balance for the activation of the destination");
    this.balances.debit(source, from, amount);
    if (fee > 0n) this.balances.debit(source, feeKey, fee);
    this.balances.add(destination, to, amount);
    return fee;
  }
}

function deltaOf({ action, nonce }: PostedAction, transfer: Transfer, fee: bigint): LedgerUpdate["delta"] {
  const { source: user, destination, token, from, to } = transfer;
  const amount = formatDecimal(transfer.amount, token.weiDecimals);
  const fees = formatDecimal(fee, PERPS_DECIMALS);
  if (action.type === "usdSend")
    return { type: "internalTransfer", usdc: amount, user, destination, fee: fees };
  const common = {
    token: token.name,
    amount,
    usdcValue: token.tokenId === LOCAL_USDC.tokenId ? amount : "0.0",
    user,
    destination,
    fee: fees,
    nativeTokenFee: "0.0",
    nonce,
    feeToken: fee > 0n ? LOCAL_USDC.name : "",
  };
  return action.type === "spotSend"
    ? { type: "spotTransfer", ...common }
    : { type: "send", ...common, sourceDex: from.dex, destinationDex: to.dex };
}
