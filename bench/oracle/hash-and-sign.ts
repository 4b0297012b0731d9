import { executionDigester, rawKeySigner, signatureToHex, type Execution } from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { keccak256, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { median } from "../median.ts";

/** How fast executions are hashed and signed, on one core. */
export interface SigningFigures {
  /** Per second, median of the rounds. */
  readonly ours: number;
  readonly viem: number;
  /** Our rate divided by viem's: the median of the rounds' ratios. */
  readonly ratio: number;
}

const KEY: Hex = `0x${"5a".repeat(32)}`;
const DOMAIN = {
  name: "Oracle",
  version: "1",
  chainId: 31_337,
  verifyingContract: `0x${"0c".repeat(20)}`,
} as const;
const TYPES = {
  Execution: [
    { name: "idempotencyKey", type: "bytes32" },
    { name: "actions", type: "bytes[]" },
  ],
} as const;

/**
 * Signs distinct executions with two actions, alternating between our implementation and viem's.
 * @throws if the two do not produce the same bytes, because there is then nothing to compare
 */
export async function measureSigning(rounds: number, msPerRound: number): Promise<SigningFigures> {
  const { chainId, verifyingContract: oracleAddress } = DOMAIN;
  const digest = executionDigester({ chainId, oracleAddress, domain: DOMAIN });
  const signer = rawKeySigner(KEY);
  const account = privateKeyToAccount(KEY);
  const signWithOurs = async (execution: Execution): Promise<Hex> =>
    signatureToHex(await signer.signDigest(digest(execution)));
  const signWithViem = async (message: Execution): Promise<Hex> =>
    await account.signTypedData({ domain: DOMAIN, types: TYPES, primaryType: "Execution", message });

  const executions = Array.from({ length: 1_024 }, (_, index) => executionOf(index));
  for (const execution of executions.slice(0, 32))
    if ((await signWithOurs(execution)) !== (await signWithViem(execution)))
      throw new Error("signature differs from viem's");

  const ours: number[] = [];
  const viem: number[] = [];
  // The first round warms both up.
  for (let round = 0; round <= rounds; round++) {
    const [us, them] = [
      await measureRate(signWithOurs, executions, msPerRound),
      await measureRate(signWithViem, executions, msPerRound),
    ];
    if (round === 0) continue;
    ours.push(us);
    viem.push(them);
  }
  return {
    ours: median(ours),
    viem: median(viem),
    ratio: median(ours.map((rate, round) => rate / (viem[round] ?? Number.NaN))),
  };
}

function executionOf(index: number): Execution {
  const word = (text: string): Hex => keccak256(toHex(`${text} ${index}`));
  const action = (text: string): Hex =>
    `0x${Array.from({ length: 6 }, (_, n) => word(`${text} ${n}`).slice(2)).join("")}`;
  return { idempotencyKey: word("key"), actions: [action("give"), action("take")] };
}

async function measureRate(
  sign: (execution: Execution) => Promise<Hex>,
  executions: readonly Execution[],
  forMs: number,
): Promise<number> {
  const startedAtMs = performance.now();
  let signed = 0;
  while (performance.now() - startedAtMs < forMs) {
    // The clock is not read for each signature, because that would be measured too.
    for (let n = 0; n < 16; n++) await sign(executions[signed++ % executions.length] ?? executionOf(signed));
  }
  return (signed / (performance.now() - startedAtMs)) * 1_000;
}
