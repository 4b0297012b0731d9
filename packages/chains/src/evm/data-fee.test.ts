import { decodeFunctionData, parseAbi, parseTransaction } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import type { Address, Hex, Hex32, TxHash } from "@causeway/domain";
import { readReceipt } from "@causeway/families/evm";
import { createDataFees } from "./data-fee.ts";
import { RpcFault } from "@causeway/families";

const abi = parseAbi(["function getL1Fee(bytes unsignedTransaction) view returns (uint256)"]);
const to: Address = `0x${"ab".repeat(20)}`;
const call = { to, data: "0x12345678", value: 5n } as const;

/** A chain whose gas price oracle returns these answers. */
function createChain(answer: (bytes: Hex) => unknown) {
  const queried: Address[] = [];
  const dataFee = createDataFees(
    {
      request: async (_, params) => {
        const [question] = params as [{ to: Address; data: Hex }];
        queried.push(question.to);
        return answer(decodeFunctionData({ abi, data: question.data }).args[0]);
      },
    },
    10,
  );
  return { dataFee, queried };
}
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;

test("asks a rollup's gas price oracle about the whole transaction, including authorizations", async () => {
  const seen: ReturnType<typeof parseTransaction>[] = [];
  const { dataFee, queried } = createChain((bytes) => {
    seen.push(parseTransaction(bytes));
    return word(BigInt(bytes.length));
  });
  const plain = await dataFee(call);
  const { r, s, yParity } = await privateKeyToAccount(generatePrivateKey()).signAuthorization({
    chainId: 10,
    address: to,
    nonce: 0,
  });
  const authorization = { chainId: 10, address: to, nonce: 0, r, s, yParity: yParity === 1 ? 1 : 0 } as const;
  const listed = await dataFee({ ...call, authorizationList: [authorization] });
  expect(seen).toMatchObject([
    { ...call, chainId: 10, type: "eip1559" },
    { ...call, chainId: 10, type: "eip7702", authorizationList: [{ address: to }] },
  ]);
  expect(queried).toEqual(Array.from({ length: 2 }, () => "0x420000000000000000000000000000000000000f"));
  expect(listed - plain).toBeGreaterThan(2n * 90n);
});

test("returns zero without a gas price oracle, and does not query it again", async () => {
  const { dataFee, queried } = createChain(() => "0x");
  expect([await dataFee(call), await dataFee(call)]).toEqual([0n, 0n]);
  expect(queried).toHaveLength(1);
});

test("an oracle that does not answer is a fault, not a price of zero", async () => {
  await expect(createChain(() => "0x01").dataFee(call)).rejects.toThrow(RpcFault);
});

test("includes a rollup's data fee in the gas price, rounded up", () => {
  const hash: TxHash = `0x${"11".repeat(32)}` as TxHash;
  const blockHash: Hex32 = `0x${"22".repeat(32)}`;
  const receipt = (change: object = {}) =>
    readReceipt(
      {
        transactionHash: hash,
        blockHash,
        blockNumber: "0x1",
        status: "0x1",
        gasUsed: "0x7",
        effectiveGasPrice: "0xa",
        logs: [],
        ...change,
      },
      hash,
    );
  expect(receipt()).toMatchObject({ gasUsed: 7n, effectiveGasPrice: 10n });
  expect(receipt({ l1Fee: "0x0" })).toMatchObject({ gasUsed: 7n, effectiveGasPrice: 10n });
  // 7 units at 10 wei, and 15 wei for the bytes: 85 wei, at most 91.
  expect(receipt({ l1Fee: "0xf" })).toMatchObject({ gasUsed: 7n, effectiveGasPrice: 13n });
  expect(() => receipt({ l1Fee: "much" })).toThrow(RpcFault);
});
