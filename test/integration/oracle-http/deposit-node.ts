import { encodeAbiParameters, keccak256, toHex } from "viem";
import { startFakeNode } from "./fake-node.ts";
import { account, USDC, USER, word } from "../../support/oracle-world.ts";

const quantity = (n: number): string => `0x${n.toString(16)}`;
const HEAD = 100;
const TRANSFER = keccak256(toHex("Transfer(address,address,uint256)"));
const DEPOSITED = keccak256(toHex("Erc20Deposit(address,address,uint256,bytes32)"));

const blockHashOf = (number: number): string => `0x${number.toString(16).padStart(64, "b")}`;

/** The transaction that every such node knows: a deposit of 5 base units in a final block. */
export const KNOWN_DEPOSIT = word("d1");

/** A node on a socket. Its chain has a block every ten seconds, and one deposit for the order 0x0a…. */
export async function startDepositNode(chainId: number, depository: string) {
  const transactionFields = {
    transactionHash: KNOWN_DEPOSIT,
    blockNumber: quantity(50),
    blockHash: blockHashOf(50),
    transactionIndex: "0x0",
  };
  const types = [{ type: "address" }, { type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  const topic = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;
  const logs = [
    {
      ...transactionFields,
      address: USDC,
      topics: [TRANSFER, topic(USER), topic(depository)],
      data: encodeAbiParameters([{ type: "uint256" }], [5n]),
      logIndex: "0x2",
      removed: false,
    },
    {
      ...transactionFields,
      address: depository.toLowerCase(),
      topics: [DEPOSITED],
      data: encodeAbiParameters(types, [USER, USDC, 5n, word("0a")]),
      logIndex: "0x3",
      removed: false,
    },
  ];
  return await startFakeNode({
    eth_chainId: () => quantity(chainId),
    eth_getBlockByNumber: ([tag]) => {
      const number = typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : HEAD;
      return {
        number: quantity(number),
        hash: blockHashOf(number),
        parentHash: blockHashOf(number - 1),
        timestamp: quantity(1_000 + 10 * number),
        baseFeePerGas: "0x1",
      };
    },
    eth_getTransactionReceipt: ([hash]) =>
      hash === KNOWN_DEPOSIT
        ? { ...transactionFields, status: "0x1", gasUsed: "0x5208", effectiveGasPrice: "0x1", logs }
        : null,
  });
}

/** A node on a socket. Its chain is a hub whose oracle contract serves the ledger at 0xe1…. */
export async function startHubNode(chainId: number) {
  return await startFakeNode({
    eth_chainId: () => quantity(chainId),
    eth_getBlockByNumber: ([tag]) => {
      const number = typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : HEAD;
      return {
        number: quantity(number),
        hash: blockHashOf(number),
        parentHash: blockHashOf(number - 1),
        timestamp: quantity(1_000 + number),
      };
    },
    eth_call: () => `0x${"00".repeat(12)}${account("e1").slice(2)}`,
  });
}
