import { concat } from "viem";
import { permit2CreationCode, permit2Salt } from "../src/index.ts";
import { people, type TestChain } from "./chain.ts";

/** Of the contract's errors those that the tests expect. */
export const permit2Errors = [
  { type: "error", name: "InvalidSigner", inputs: [] },
  { type: "error", name: "InvalidNonce", inputs: [] },
  { type: "error", name: "SignatureExpired", inputs: [{ name: "signatureDeadline", type: "uint256" }] },
] as const;

/** Creates Permit2 where it is on public chains. The deterministic deployer is on every anvil chain. */
export async function installPermit2(chain: TestChain): Promise<void> {
  await chain.send(people.deployer, {
    to: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
    data: concat([permit2Salt, permit2CreationCode]),
  });
}
