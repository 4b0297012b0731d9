import { encodeFunctionData, serializeTransaction, type Hex as ViemHex } from "viem";
import type { Address } from "@causeway/domain";
import type { ChainReader } from "@causeway/families/evm";
import { callUntrusted } from "./call-untrusted.ts";
import { garbage } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** `GasPriceOracle`, the predeployed contract of OP Stack rollups that returns a transaction's data fee. */
const GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000f";
const abi = [
  {
    type: "function",
    name: "getL1Fee",
    stateMutability: "view",
    inputs: [{ name: "unsignedTransaction", type: "bytes" }],
    outputs: [{ type: "uint256" }],
  },
] as const;
/** Values of a typical transaction; only their length matters. */
const TYPICAL_VALUES = {
  nonce: 2 ** 20,
  gas: 2n ** 24n,
  maxFeePerGas: 2n ** 36n,
  maxPriorityFeePerGas: 2n ** 30n,
};

/**
 * The data fee of calls at the newest block, in wei, in addition to their gas. Zero on chains without a data
 * fee, which is detected once.
 * @throws RpcFault if the node does not answer
 */
export function createDataFees(
  transport: Pick<RpcTransport, "request">,
  chainId: number,
): ChainReader["dataFee"] {
  let hasNoDataFee = false;
  return async ({ to, data, value, authorizationList = [] }) => {
    if (hasNoDataFee) return 0n;
    const transaction = { chainId, ...TYPICAL_VALUES, to, data, value };
    const bytes: ViemHex =
      authorizationList.length === 0
        ? serializeTransaction({ ...transaction, type: "eip1559" })
        : serializeTransaction({
            ...transaction,
            type: "eip7702",
            authorizationList: [...authorizationList],
          });
    const calldata = encodeFunctionData({ abi, functionName: "getL1Fee", args: [bytes] });
    const answer = await callUntrusted(transport, GAS_PRICE_ORACLE, calldata);
    if (answer === "0x") {
      hasNoDataFee = true;
      return 0n;
    }
    if (answer === undefined || answer.length !== 66)
      throw garbage("eth_call", "data fee of the transaction is missing");
    return BigInt(answer);
  };
}
