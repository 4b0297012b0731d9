import { onchainId } from "@causeway/attest";
import { orderIdOf, type Hex, type Order } from "@causeway/domain";

// The transactions on the two chains of this bench, by number: the fake node and its clients must agree
// without a connection.

/** The chains of deposits and of payments. */
export const ALDER = { name: "alder", chainId: 31_001 } as const;
export const BIRCH = { name: "birch", chainId: 31_002 } as const;
export const SOLVER_KEY: Hex = `0x${"50".repeat(32)}`;
export const DEPOSITORY: Hex = `0x${"d0".repeat(20)}`;
export const TOKEN: Hex = `0x${"c1".repeat(20)}`;
export const USER: Hex = `0x${"a1".repeat(20)}`;
export const AMOUNT = 1_000_000n;
/** A final block far above all requested blocks. */
export const HEAD_NUMBER = 50_000_000;

const DEPOSIT_MARK = "d0";
const FILL_MARK = "f1";
/** The log index of the deposit event; its Transfer is the previous log. */
export const DEPOSIT_LOG_INDEX = 41;

export const depositHash = (index: number): Hex => marked(DEPOSIT_MARK, index);
export const fillHash = (index: number): Hex => marked(FILL_MARK, index);
export const blockHash = (number: number): Hex => marked("b1", number);
/** Each transaction has its own block. */
export const blockNumberOf = (index: number): number => 1_000 + index;
/** Unix seconds; the same on both chains. */
export const timestampOf = (blockNumber: number): number => 1_700_000_000 + blockNumber;

/** The transaction that a hash identifies. */
export function transactionOf(hash: string): { readonly isFill: boolean; readonly index: number } {
  return { isFill: hash.startsWith(FILL_MARK, 2), index: Number.parseInt(hash.slice(4), 16) };
}

/** The order of the deposit and fill with this number. */
export function orderOf(index: number, solver: Hex): Order {
  return {
    version: "v1",
    solverChainId: BIRCH.name,
    solver,
    salt: marked("5a", index),
    inputs: [
      {
        payment: { chainId: ALDER.name, currency: TOKEN, amount: AMOUNT, weight: 10n ** 18n },
        refunds: [],
      },
    ],
    output: {
      chainId: BIRCH.name,
      payments: [
        { recipient: USER, currency: TOKEN, minimumAmount: AMOUNT - 1_000n, expectedAmount: AMOUNT },
      ],
      calls: [],
      deadline: 4_000_000_000,
      extraData: "0x",
    },
    fees: [],
  };
}

export const orderIdAt = (index: number, solver: Hex): Hex => orderIdOf(orderOf(index, solver));
export const onchainIdAt = (index: number): Hex =>
  onchainId(ALDER.name, depositHash(index), String(DEPOSIT_LOG_INDEX));

function marked(mark: string, number: number): Hex {
  return `0x${mark}${number.toString(16).padStart(62, "0")}`;
}
