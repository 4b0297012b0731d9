import snapshot from "./gas-snapshot.json" with { type: "json" };

// Gas units of whole transactions, measured on a local node; gas.test.ts keeps the snapshot up to date. Each
// figure is the worst case: a recipient (or depository) that has never held the token, and a sender that
// keeps some of it.

function gasUnits<K extends string>(figures: Readonly<Record<K, number>>): Readonly<Record<K, bigint>> {
  const entries = Object.entries<number>(figures).map(([name, units]) => [name, BigInt(units)]);
  return Object.fromEntries(entries) as Record<K, bigint>;
}

/** `erc20Transfer` is a plain token transfer to the depository with the id after its calldata. */
export const depositGas = gasUnits(snapshot.deposit);

/**
 * `native`: a transfer to the recipient with the order id as data. `erc20`: a token transfer with the order
 * id after the calldata. `routerNative`: a payment by the router. `routerCall`: one payment and one small
 * call by the router. `proxyCall`: the approval proxy pulls a token, then the router makes one payment and
 * one small call, and checks that the recipient's balance rose. Add the gas that the called contracts use.
 */
export const fillGas = gasUnits(snapshot.fill);

/** An allocator-signed `execute` of the depository with one payment. */
export const executeGas = gasUnits(snapshot.execute);

/** A plain send, with no data. */
export const transferGas = gasUnits(snapshot.transfer);

/**
 * Executions on the hub with the signatures of two oracles: one deposit minted, one deposit moved to the
 * solver, and ten moved by one `executeMultiple`.
 */
export const settleGas = gasUnits(snapshot.settle);

/**
 * Routes without the gas of swaps: the router deposits or pays everything it received. `depositNative`,
 * `payNative` and `wrapAndPay` are multicalls with a value; `depositErc20`, `payErc20` and `unwrapAndPay`
 * begin with `pullAndRoute`; `permit2` and `authorization` are token deposits by signature that use the
 * account's first nonce.
 */
export const routeGas = gasUnits(snapshot.route);

/**
 * Sweeps of a deposit address: the first, which creates the clone, and later ones. `overpaid` is a first
 * `sweepMany` of one token in two deposits, `pull` a first deposit with an EIP-2612 permit; `recover`
 * withdraws a token when the clone exists already.
 */
export const depositAddressGas = gasUnits(snapshot.depositAddress);

/** A first approval of a token to the depository. */
export const approveGas: bigint = BigInt(snapshot.approve);
