/** Balances per (chain, currency, account), in base units; missing entries are zero. Pure. */
export class Ledger {
  readonly #entries = new Map<string, bigint>();

  add(chainId: number, currency: string, account: string, amount: bigint): void {
    const key = keyOf(chainId, currency, account);
    this.#entries.set(key, (this.#entries.get(key) ?? 0n) + amount);
  }

  /** From one account to another. */
  move(chainId: number, currency: string, from: string, to: string, amount: bigint): void {
    this.add(chainId, currency, from, -amount);
    this.add(chainId, currency, to, amount);
  }

  get(chainId: number, currency: string, account: string): bigint {
    return this.#entries.get(keyOf(chainId, currency, account)) ?? 0n;
  }

  entries(): Entry[] {
    return [...this.#entries].map(([key, amount]) => {
      const [chainId = "", currency = "", account = ""] = key.split(" ");
      return { chainId: Number(chainId), currency, account, amount };
    });
  }
}

export interface Entry {
  readonly chainId: number;
  readonly currency: string;
  readonly account: string;
  readonly amount: bigint;
}

function keyOf(chainId: number, currency: string, account: string): string {
  return `${chainId} ${currency.toLowerCase()} ${account.toLowerCase()}`;
}

/** The account that base fees go to. It has no owner, and makes burned gas an entry like any other. */
export const burned = "burned";

export interface GasFacts {
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly baseFeePerGas: bigint;
}

/**
 * EIP-1559: the sender pays the effective price; the base fee is burned, and the rest goes to the block's fee
 * recipient.
 */
export function writeGas(
  ledger: Ledger,
  chainId: number,
  native: string,
  parties: { readonly from: string; readonly feeRecipient: string },
  { gasUsed, effectiveGasPrice, baseFeePerGas }: GasFacts,
): void {
  ledger.move(chainId, native, parties.from, burned, gasUsed * baseFeePerGas);
  ledger.move(
    chainId,
    native,
    parties.from,
    parties.feeRecipient,
    gasUsed * (effectiveGasPrice - baseFeePerGas),
  );
}

/** A balance change on the chain that differs from the expected one. */
export interface Difference extends Entry {
  readonly expected: bigint;
}

/** Compares the observed with the expected change of each account; `amount` is the observed change. */
export function differences(observed: Ledger, expected: Ledger): Difference[] {
  const entries = new Map<string, Entry>();
  for (const entry of [...observed.entries(), ...expected.entries()])
    entries.set(keyOf(entry.chainId, entry.currency, entry.account), entry);
  return [...entries.values()]
    .map(({ chainId, currency, account }) => ({
      chainId,
      currency,
      account,
      amount: observed.get(chainId, currency, account),
      expected: expected.get(chainId, currency, account),
    }))
    .filter((entry) => entry.amount !== entry.expected);
}

/** Sums over all accounts per chain and currency; only nonzero ones. */
export function imbalances(ledger: Ledger): { chainId: number; currency: string; sum: bigint }[] {
  const sums = new Map<string, { chainId: number; currency: string; sum: bigint }>();
  for (const { chainId, currency, amount } of ledger.entries()) {
    const key = keyOf(chainId, currency, "");
    sums.set(key, { chainId, currency, sum: (sums.get(key)?.sum ?? 0n) + amount });
  }
  return [...sums.values()].filter(({ sum }) => sum !== 0n);
}
