import { concat } from "viem";
import { permit2CreationCode, permit2Salt } from "../src/index.ts";
import { accounts, type TestChain } from "./chain.ts";

/** The errors of Permit2 that the tests expect. */
export const permit2Errors = [
  { type: "error", name: "InvalidSigner", inputs: [] },
  { type: "error", name: "InvalidNonce", inputs: [] },
  { type: "error", name: "SignatureExpired", inputs: [{ name: "signatureDeadline", type: "uint256" }] },
] as const;

/** Deploys Permit2 at its address on public chains. Every anvil chain has the deterministic deployer. */
export async function installPermit2(chain: TestChain): Promise<void> {
  await chain.send(accounts.deployer, {
    to: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
    data: concat([permit2Salt, permit2CreationCode]),
  });
}
