import { rawKeySigner } from "@causeway/attest";
import { requestAttestationVerifierAbi, requestAttestationVerifierBytecode } from "@causeway/contracts";
import { createLocalClient, startAnvil, type RunningAnvil } from "@causeway/testkit";
import { localAccount } from "@causeway/localnet";
import { pad, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keyOrderSigner } from "../../../apps/api/src/requests/signing/key-order-signer.ts";
import { createRequestSignature } from "../../../apps/api/src/requests/request-signature.ts";
import type { Reads } from "../../../apps/api/src/db/reads.port.ts";
import { someTerms } from "../../support/terms.ts";
import { noChains } from "../../fakes/no-chains.ts";

let node: RunningAnvil;
beforeAll(async () => {
  node = await startAnvil({ chainId: 31_337 });
});
afterAll(async () => await node.stop());

test("a contract recomputes the hash of a signed request and recovers the solver", async () => {
  const client = createLocalClient(node);
  const account = privateKeyToAccount(localAccount("user").privateKey);
  await client.setBalance({ address: account.address, value: 10n ** 18n });
  const hash = await client.deployContract({
    account,
    abi: requestAttestationVerifierAbi,
    bytecode: requestAttestationVerifierBytecode,
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  const solver = rawKeySigner(localAccount("solver").privateKey);
  const terms = someTerms({ user: `0x${"a1".repeat(20)}`, recipient: `0x${"b2".repeat(20)}` });
  const reads = { request: async () => ({ terms }) } as unknown as Reads;
  const signedRequest = await createRequestSignature({
    reads,
    orderSigner: keyOrderSigner(solver),
    chains: noChains,
  })(terms.requestId, "v1");
  if (signedRequest === undefined || contractAddress == null)
    throw new Error("expected a signed request and a deployed contract");
  const { facts, signature } = signedRequest;
  const signerOf = async (originAmount: bigint): Promise<Hex> =>
    await client.readContract({
      abi: requestAttestationVerifierAbi,
      address: contractAddress,
      functionName: "signerOf",
      args: [
        {
          requestId: facts.requestId,
          originChainId: BigInt(facts.originChainId),
          originUser: pad(facts.originUser),
          originCurrency: pad(facts.originCurrency),
          originAmount,
          destinationChainId: BigInt(facts.destinationChainId),
          destinationUser: pad(facts.destinationUser),
        },
        signature,
      ],
    });
  expect((await signerOf(facts.originAmount)).toLowerCase()).toBe(solver.address);
  expect((await signerOf(facts.originAmount + 1n)).toLowerCase()).not.toBe(solver.address);
});
