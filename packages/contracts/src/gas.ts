import snapshot from "./gas-snapshot.json" with { type: "json" };

// Gas units of whole transactions, measured on a local node by gas.test.ts, which keeps the snapshot true.
// Each figure is the expensive case: a recipient (or depository) that never held the token, a sender that
// keeps some of it.

function gasUnits<K extends string>(figures: Readonly<Record<K, number>>): Readonly<Record<K, bigint>> {
  const entries = Object.entries<number>(figures).map(([name, units]) => [name, BigInt(units)]);
  return Object.fromEntries(entries) as Record<K, bigint>;
}

/** `erc20Transfer` is a plain token transfer to the depository with the id after its calldata. */
export const depositGas = gasUnits(snapshot.deposit);

/**
 * `native`: sent to the recipient with the order id as data. `erc20`: transferred with the order id after the
 * calldata. `routerNative`: paid by the router. `routerCall`: one payment and one small call by the router;
 * `proxyCall`: a token pulled by the approval proxy, then the same, with the payment noted and required.
 * Calls cost what their targets cost on top.
 */
export const fillGas = gasUnits(snapshot.fill);

/** An allocator-signed `execute` of the depository with one payment in it. */
export const executeGas = gasUnits(snapshot.execute);

/** A plain send, with no data. */
export const transferGas = gasUnits(snapshot.transfer);

/**
 * Executions on the hub with the signatures of two oracles: one deposit minted, one deposit moved to the
 * solver, and ten moved by one `executeMultiple`.
 */
export const settleGas = gasUnits(snapshot.settle);

/**
 * Routes without what exchanges cost: what came in is deposited or paid by the router, whole.
 * `depositNative`, `payNative` and `wrapAndPay` are multicalls with a value; `depositErc20`, `payErc20` and
 * `unwrapAndPay` begin with `pullAndRoute`; `permit2` and `authorization` are the deposit of a token that was
 * paid by signature, with a first nonce.
 */
export const routeGas = gasUnits(snapshot.route);

/**
 * What is at a deposit address: deposited for the first time, which creates the clone, and later. `overpaid`
 * is a first `sweepMany` of one token in two deposits, `pull` a first deposit with an EIP-2612 permit;
 * `recover` takes a token out where the clone is already.
 */
export const depositAddressGas = gasUnits(snapshot.depositAddress);

/** A first approval of a token to the depository. */
export const approveGas: bigint = BigInt(snapshot.approve);
