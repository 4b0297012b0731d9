import type { EvidenceSource } from "@causeway/chains";
import { expect, test } from "vitest";
import type { AttestedChain } from "../ports/attested-chains.ts";
import type { HubReader } from "../ports/hub-reader.ts";
import { statusReport } from "./report-status.ts";

const unexpectedCall = async (): Promise<never> => await Promise.reject(new Error("unexpected call"));
const hubReader: HubReader = {
  balanceOf: unexpectedCall,
  recordedWithdrawal: unexpectedCall,
  multisig: unexpectedCall,
  newestFinal: unexpectedCall,
};
const hub = { name: "hub", chainId: 9 } as Parameters<typeof statusReport>[0]["hub"];
const chain = { name: "exchange", vmType: "hyperliquid-vm" } as AttestedChain["chain"];
const evidence: EvidenceSource = {
  chain,
  deposits: unexpectedCall,
  payments: unexpectedCall,
  withdrawal: unexpectedCall,
  close: unexpectedCall,
};

test("reports a chain without blocks as reachable after its endpoint's first answer", async () => {
  const clock = { nowMs: 50_000 };
  const answers: number[] = [];
  const report = statusReport(
    {
      chains: new Map([["exchange", { chain, evidence, lastAnswerMs: () => answers.at(-1) }]]),
      hub,
      hubReader,
    },
    { policy: { localSigner: "0x01", threshold: 1, signers: undefined } },
    { shadow: false, nowMs: () => clock.nowMs },
  );
  expect((await report()).chains).toEqual([
    { id: "exchange", vmType: "hyperliquid-vm", status: "unknown", lastAnswerSecondsAgo: null },
  ]);
  answers.push(clock.nowMs);
  clock.nowMs += 12_345;
  expect((await report()).chains).toEqual([
    { id: "exchange", vmType: "hyperliquid-vm", status: "reachable", lastAnswerSecondsAgo: 12 },
  ]);
});
