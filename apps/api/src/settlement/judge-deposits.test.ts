import {
  depositKey,
  depositoryDepositId,
  encodeHubAction,
  executionDigester,
  hubAlias,
  hubTokenId,
  messageDigest,
  NO_DEPOSIT_ID,
  orderAddress,
  rawKeySigner,
  signatureToHex,
} from "@causeway/attest";
import type { HubChain } from "@causeway/attest";
import type { AttestationHub, VmType } from "@causeway/domain";
import { decodeAddress, formatTransactionId } from "@causeway/families";
import type { DepositAttestationAnswer } from "@causeway/wire";
import { expect, test } from "vitest";
import { someAddress, someHash } from "../../../../test/support/terms.ts";
import type { AttestationOracle } from "./oracles.port.ts";
import { askForDeposit } from "./ask-oracle.ts";
import { judgeFor } from "./hub-facts.ts";
import { judgeDeposits, type DepositClaim } from "./judge-deposits.ts";

const quorum = ["a1", "b2"].map((byte) => rawKeySigner(`0x${byte.repeat(32)}`));
const hub: AttestationHub = {
  name: "hub",
  rpcUrl: "http://127.0.0.1:1",
  chainId: 7,
  hubAddress: someAddress(),
  oracleAddress: someAddress(),
  oracleMultisigAddress: someAddress(),
  allocatorAddress: undefined,
  domain: { name: "Oracle", version: "1" },
  settlementKey: "payment",
  fillLeadSeconds: 60,
  finality: { kind: "tag" },
};
function familyOf(name: string): VmType {
  const families: Readonly<Record<string, VmType>> = { one: "ethereum-vm", two: "solana-vm" };
  const family = families[name];
  if (family === undefined) throw new Error(`no chain is called ${name}`);
  return family;
}
const judge = judgeFor(
  hub,
  { accepted: new Set(quorum.map(({ address }) => address)), threshold: 2 },
  familyOf,
);
const hubChain: HubChain = { name: "one", vmType: "ethereum-vm" };
const digest = executionDigester(hub);

const claim: DepositClaim = {
  chain: "one",
  transactionId: someHash(),
  depository: someAddress(),
  orderId: someHash(),
  depositor: someAddress(),
  currency: someAddress(),
  amount: 100n,
  ordinal: 0,
};
const ours = {
  onchainId: someHash(),
  depository: claim.depository,
  depositId: claim.orderId,
  depositor: claim.depositor,
  currency: claim.currency,
  amount: claim.amount,
};

/** The answer that a full quorum signs for these deposits. */
async function quorumSees(...deposits: readonly (typeof ours)[]): Promise<DepositAttestationAnswer> {
  return await quorumSeesOn(hubChain, claim.transactionId, deposits);
}

async function quorumSeesOn(
  chain: HubChain,
  transactionId: string,
  deposits: readonly (typeof ours)[],
  part = 0,
): Promise<DepositAttestationAnswer> {
  const timestamp = 1_700_000_000n;
  const data = { chainId: chain.name, transactionId };
  const execution = {
    idempotencyKey: depositKey(chain.name, transactionId, part),
    actions: deposits.map((deposit) =>
      encodeHubAction({
        kind: "mint",
        to:
          deposit.depositId === NO_DEPOSIT_ID
            ? hubAlias(chain, deposit.depositor)
            : orderAddress(chain, { ...deposit, timestamp }),
        tokenId: hubTokenId(chain, deposit.currency),
        amount: deposit.amount,
      }),
    ),
  };
  return {
    messages: await Promise.all(
      deposits.map(async (result) => ({
        data,
        result: { ...result, amount: result.amount.toString() },
        extraData: { timestamp: timestamp.toString() },
        signatures: await Promise.all(
          quorum.map(async (signer) => ({
            oracle: signer.address,
            signature: signatureToHex(
              await signer.signDigest(
                messageDigest(depositoryDepositId(() => chain.vmType, { data, result })),
              ),
            ),
          })),
        ),
      })),
    ),
    execution: {
      ...execution,
      signatures: await Promise.all(
        quorum.map(async (signer) => ({
          oracleChainId: "7",
          oracleContract: hub.oracleAddress,
          oracleSigner: signer.address,
          signature: signatureToHex(await signer.signDigest(digest(execution))),
        })),
      ),
    },
  };
}

test("finds our deposit among others of its transaction, with its id and its account on the hub", async () => {
  const stranger = {
    ...ours,
    onchainId: someHash(),
    depositId: NO_DEPOSIT_ID,
    depositor: someAddress(),
    amount: 5n,
  };
  const verdict = judgeDeposits(judge, claim, await quorumSees(stranger, ours));
  expect(verdict).toMatchObject({
    kind: "true",
    value: {
      ours: {
        onchainId: ours.onchainId,
        credit: {
          holder: orderAddress(hubChain, { ...ours, timestamp: 1_700_000_000n }),
          tokenId: hubTokenId(hubChain, ours.currency),
          amount: ours.amount,
        },
      },
    },
  });
  // The two lower signers, ascending.
  expect(verdict.kind === "true" && verdict.value.ours?.execution.signature).toHaveLength(2 + 2 * 130);
});

test("requires a timestamp only of deposits with an id", async () => {
  const withoutId = { ...ours, onchainId: someHash(), depositId: NO_DEPOSIT_ID, amount: 1n };
  const { messages, execution } = await quorumSees(ours, withoutId);
  const withoutTime = (position: number): DepositAttestationAnswer => ({
    messages: messages.map(({ extraData, ...message }, index) =>
      index === position || extraData === undefined ? message : { ...message, extraData },
    ),
    ...(execution && { execution }),
  });
  expect(judgeDeposits(judge, claim, withoutTime(1))).toMatchObject({
    kind: "true",
    value: { ours: { onchainId: ours.onchainId } },
  });
  expect(judgeDeposits(judge, claim, withoutTime(0))).toEqual({
    kind: "lie",
    reason: "the oracle reports a deposit with an id but without a timestamp",
  });
});

test("of identical deposits, picks the one at our position", async () => {
  const twin = { ...ours, onchainId: someHash() };
  const answer = await quorumSees(ours, twin);
  expect(judgeDeposits(judge, { ...claim, ordinal: 1 }, answer)).toMatchObject({
    kind: "true",
    value: { ours: { onchainId: twin.onchainId } },
  });
  expect(judgeDeposits(judge, { ...claim, ordinal: 2 }, answer)).toMatchObject({
    kind: "true",
    value: { ours: undefined, identicalCount: 2 },
  });
});

test("finds our deposit in a later part, counting identical ones in earlier parts", async () => {
  const third = { ...ours, onchainId: someHash() };
  const later = await quorumSeesOn(hubChain, claim.transactionId, [third], 1);
  const laterClaim = { ...claim, ordinal: 2 };
  expect(judgeDeposits(judge, laterClaim, later, 1, 2)).toMatchObject({
    kind: "true",
    value: { ours: { onchainId: third.onchainId } },
  });
  expect(judgeDeposits(judge, laterClaim, later, 1, 1)).toMatchObject({
    kind: "true",
    value: { identicalCount: 1 },
  });
  // An execution of one part is not an execution of another.
  expect(judgeDeposits(judge, laterClaim, later, 0, 2).kind).toBe("lie");
  expect(judgeDeposits(judge, laterClaim, { messages: [] }, 1, 2)).toEqual({
    kind: "lie",
    reason: "the deposit is not among those that the oracle sees",
  });
});

test.for([
  ["amount", { amount: 101n }],
  ["depositor", { depositor: someAddress() }],
  ["currency", { currency: someAddress() }],
  ["depository", { depository: someAddress() }],
  ["order", { depositId: someHash() }],
] as const)("rejects even a quorum that sees a different %s than we did", async ([, change]) => {
  expect(judgeDeposits(judge, claim, await quorumSees({ ...ours, ...change }))).toMatchObject({
    kind: "true",
    value: { ours: undefined, identicalCount: 0 },
  });
});

test("accepts hex in another letter case as the same deposit", async () => {
  const upper = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`;
  const answer = await quorumSees(ours);
  const [message] = answer.messages;
  if (message === undefined) throw new Error("the message is missing");
  const inUpperCase = {
    ...answer,
    messages: [
      {
        ...message,
        data: { ...message.data, transactionId: upper(message.data.transactionId) },
        result: { ...message.result, depositor: upper(ours.depositor), depositId: upper(ours.depositId) },
      },
    ],
  };
  expect(judgeDeposits(judge, claim, inUpperCase).kind).toBe("true");
});

test("verifies a deposit of another chain family in that family's formats, which may be case-sensitive", async () => {
  const two: HubChain = { name: "two", vmType: "solana-vm" };
  const account = () => decodeAddress(two.vmType, someHash());
  const transactionId = formatTransactionId({ vmType: "svm" }, `0x${"5a".repeat(64)}`);
  const depositOnTwo = { ...ours, depository: account(), depositor: account(), currency: account() };
  const { depository, depositor, currency } = depositOnTwo;
  const claimOnTwo = { ...claim, chain: "two", transactionId, depository, depositor, currency };
  expect(
    judgeDeposits(judge, claimOnTwo, await quorumSeesOn(two, transactionId, [depositOnTwo])),
  ).toMatchObject({
    kind: "true",
    value: {
      ours: {
        credit: {
          holder: orderAddress(two, { ...depositOnTwo, timestamp: 1_700_000_000n }),
          tokenId: hubTokenId(two, currency),
          amount: depositOnTwo.amount,
        },
      },
    },
  });
  const answer = await quorumSeesOn(two, transactionId, [depositOnTwo]);
  const [message] = answer.messages;
  if (message === undefined) throw new Error("the message is missing");
  const inLowerCase = { ...message, data: { ...message.data, transactionId: transactionId.toLowerCase() } };
  expect(judgeDeposits(judge, claimOnTwo, { ...answer, messages: [inLowerCase] }).kind).toBe("lie");
});

test("requests one part after another until a part contains our deposit", async () => {
  const otherDeposits = Array.from({ length: 2 }, () => ({
    ...ours,
    onchainId: someHash(),
    depositId: someHash(),
  }));
  const answers = [
    await quorumSeesOn(hubChain, claim.transactionId, otherDeposits, 0),
    await quorumSeesOn(hubChain, claim.transactionId, [ours], 1),
  ];
  const requests: object[] = [];
  const oracle: AttestationOracle = {
    name: "one",
    ask: async (path, body) => {
      requests.push({ path, part: "part" in body ? body.part : undefined });
      const json = answers.shift();
      return json === undefined ? { kind: "unavailable", reason: "enough" } : { kind: "answer", json };
    },
  };
  const finding = await askForDeposit(oracle, judge, claim, new AbortController().signal);
  expect(finding).toMatchObject({ kind: "attested", value: { onchainId: ours.onchainId } });
  const path = "/attestations/depository-deposits/v1";
  expect(requests).toEqual([
    { path, part: undefined },
    { path, part: 1 },
  ]);
});
