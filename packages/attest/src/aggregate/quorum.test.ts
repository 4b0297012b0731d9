import type { Address, Hex } from "@causeway/domain";
import fc from "fast-check";
import { keccak256, stringToBytes } from "viem";
import { expect, test } from "vitest";
import type { AttestationRoute, ClaimedSignature } from "./attestation-route.ts";
import { examine, type AnswerSource, type Arrival, type QuorumPolicy } from "./examine.ts";
import { answerOf, evaluateQuorum } from "./quorum.ts";

/** Lines that are signed one by one. */
interface Lines {
  readonly lines: readonly { readonly text: string; readonly signatures: readonly ClaimedSignature[] }[];
  readonly domain: string;
  /** Neither signed nor compared. */
  readonly remark: string;
}

const route: AttestationRoute<Lines> = {
  path: "/lines/v1",
  parse: () => undefined,
  unsigned: ({ lines }) => lines.map(({ text }) => text),
  slots: ({ lines, domain }) =>
    lines.map(({ text, signatures }) => ({ digest: digestOf(text), domain, signatures })),
  withSignatures: (answer, slots) => ({
    ...answer,
    lines: answer.lines.map((line, index) => ({ ...line, signatures: slots[index] ?? [] })),
  }),
};

const digestOf = (text: string): Hex => keccak256(stringToBytes(text));

/**
 * Real curves are too slow for a thousand runs and have their own tests. Here a signature consists of its
 * signer, the signed text and a variant, because a remote key never returns the same signature twice.
 */
const sign = (signer: Address, digest: Hex, variant = 0): Hex =>
  `0x${signer.slice(2)}${digest.slice(2)}0${variant}`;
const recover = (digest: Hex, signature: string): Address | undefined =>
  signature.slice(42, 106) === digest.slice(2) ? (signature.slice(0, 42) as Address) : undefined;

const addresses = ["1", "2", "3", "4", "5", "6"].map((digit): Address => `0x${digit.repeat(40)}`);
const [L, A, B, C, D, STRANGER] = addresses as [Address, Address, Address, Address, Address, Address];
const LISTED = new Set([L, A, B, C, D]);

const claimArbitrary = fc
  .record({
    signer: fc.constantFrom(...addresses),
    actualSigner: fc.option(fc.constantFrom(...addresses), { freq: 4 }),
    text: fc.constantFrom("x", "y", "other"),
    variant: fc.constantFrom(0, 1),
    isUpper: fc.boolean(),
  })
  .map(({ signer, actualSigner, text, variant, isUpper }) => ({
    signer: isUpper ? `0x${signer.slice(2).toUpperCase()}` : signer,
    signature: sign(actualSigner ?? signer, digestOf(text), variant),
  }));

const answerArbitrary: fc.Arbitrary<Lines> = fc.record({
  lines: fc
    .constantFrom<readonly string[]>(["x"], ["y"], ["x", "y"], ["y", "x"], [])
    .chain((texts) =>
      fc.tuple(
        ...texts.map((text) =>
          fc.record({ text: fc.constant(text), signatures: fc.array(claimArbitrary, { maxLength: 6 }) }),
        ),
      ),
    ),
  domain: fc.constantFrom("ours", "ours", "ours", "theirs"),
  remark: fc.string({ maxLength: 3 }),
});

const arrivalsArbitrary: fc.Arbitrary<readonly Arrival<Lines>[]> = fc
  .tuple(fc.option(answerArbitrary), fc.array(fc.option(answerArbitrary), { maxLength: 5 }))
  .map(([local, peers]) =>
    [...(local === null ? [] : [["local", local] as const]), ...peers.entries()]
      .filter((entry): entry is [AnswerSource, Lines] => entry[1] !== null)
      .map(([source, answer]) => ({ source, answer })),
  );

const policyArbitrary: fc.Arbitrary<QuorumPolicy> = fc.record({
  signers: fc.constantFrom(LISTED, LISTED, undefined),
  threshold: fc.integer({ min: 1, max: 5 }),
  localSigner: fc.constant(L),
});

const outcome = (arrivals: readonly Arrival<Lines>[], policy: QuorumPolicy): unknown => {
  const { best, complete } = fold(arrivals, policy);
  return { complete, bytes: best === undefined ? undefined : JSON.stringify(answerOf(route, best)) };
};

const fold = (arrivals: readonly Arrival<Lines>[], policy: QuorumPolicy) =>
  evaluateQuorum(
    arrivals.map((arrival) => examine(arrival, route, policy, recover)),
    policy,
  );

test("returns the same answer for any order of arrival", () => {
  fc.assert(
    fc.property(
      arrivalsArbitrary.chain((arrivals) =>
        fc.tuple(fc.constant(arrivals), fc.shuffledSubarray([...arrivals], { minLength: arrivals.length })),
      ),
      policyArbitrary,
      ([arrivals, shuffled], policy) => {
        expect(outcome(shuffled, policy)).toEqual(outcome(arrivals, policy));
      },
    ),
    { numRuns: 1_000 },
  );
});

test("returns one signature per accepted signer over its own slot, in ascending order", () => {
  fc.assert(
    fc.property(arrivalsArbitrary, policyArbitrary, (arrivals, policy) => {
      const { best, complete } = fold(arrivals, policy);
      if (best === undefined) return;
      const answer = answerOf(route, best);
      for (const { text, signatures } of best.slots.length === 0 ? [] : answer.lines) {
        const actualSigners = signatures.map(({ signature }) => recover(digestOf(text), signature));
        expect(actualSigners).toEqual(best.signers);
        expect(signatures.map(({ signer }) => signer)).toEqual(best.signers);
      }
      expect([...new Set(best.signers)].sort()).toEqual(best.signers);
      if (policy.signers !== undefined)
        for (const signer of best.signers) expect(policy.signers.has(signer)).toBe(true);
      if (complete) expect(best.signers.length).toBeGreaterThanOrEqual(policy.threshold);
    }),
    { numRuns: 1_000 },
  );
});

test("returns early only with enough distinct, listed signers with valid signatures, regardless of later arrivals", () => {
  fc.assert(
    fc.property(arrivalsArbitrary, policyArbitrary, (arrivals, policy) => {
      for (let seen = 0; seen <= arrivals.length; seen++) {
        const { best, complete } = fold(arrivals.slice(0, seen), policy);
        if (!complete) continue;
        expect(policy.signers).toBeDefined();
        const signers = new Set(best?.signers);
        expect([...signers].filter((signer) => LISTED.has(signer)).length).toBeGreaterThanOrEqual(
          policy.threshold,
        );
        // Later answers can strengthen the answer, but never withdraw it.
        expect(fold(arrivals, policy).complete).toBe(true);
        break;
      }
    }),
    { numRuns: 1_000 },
  );
});

test("ignores an unlisted signer", () => {
  fc.assert(
    fc.property(
      arrivalsArbitrary,
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom("x", "y"),
      (arrivals, threshold, text) => {
        const policy = { signers: LISTED, threshold, localSigner: L };
        const stranger: Arrival<Lines> = { source: 9, answer: line(text, [[STRANGER, text]]) };
        expect(outcome([...arrivals, stranger], policy)).toEqual(outcome(arrivals, policy));
      },
    ),
  );
});

const policy: QuorumPolicy = { signers: LISTED, threshold: 2, localSigner: L };

/** One line with signatures by these signers, each over the given text. */
function line(text: string, claims: readonly (readonly [Address, string])[], remark = ""): Lines {
  const signatures = claims.map(([signer, signed]) => ({
    signer,
    signature: sign(signer, digestOf(signed)),
  }));
  return { lines: [{ text, signatures }], domain: "ours", remark };
}

test("picks the group with the smaller key if two are equally strong and neither contains this oracle", () => {
  const x = { source: 0, answer: line("x", [[A, "x"]]) };
  const y = { source: 1, answer: line("y", [[B, "y"]]) };
  const keys = [x, y].map((arrival) => examine(arrival, route, policy, recover).key).sort();
  expect(fold([x, y], policy).best?.key).toBe(keys[0]);
  const swapped = [
    { ...x, source: 1 },
    { ...y, source: 0 },
  ];
  expect(fold(swapped, policy).best?.key).toBe(keys[0]);
});

test("counts this oracle's answer only with its own signature", () => {
  const arrival = { source: "local" as const, answer: line("x", [[A, "x"]]) };
  expect(fold([arrival], policy).best).toBeUndefined();
});

test("takes unsigned fields from this oracle, otherwise from the first peer whose signature counts", () => {
  const idle = { source: 0, answer: line("x", [[A, "y"]], "without a valid signature") };
  const first = { source: 1, answer: line("x", [[B, "x"]], "first") };
  const second = { source: 2, answer: line("x", [[C, "x"]], "second") };
  expect(fold([second, first, idle], policy).best?.answer.remark).toBe("first");
  const local = { source: "local" as const, answer: line("x", [[L, "x"]], "ours") };
  expect(fold([second, first, idle, local], policy).best?.answer.remark).toBe("ours");
});

test("prefers a signer's signature from the first listed source over the first to arrive", () => {
  const early = { source: 0, answer: line("x", [[A, "x"]]) };
  const again: Lines = {
    ...early.answer,
    lines: [{ text: "x", signatures: [{ signer: A, signature: sign(A, digestOf("x"), 1) }] }],
  };
  const { best } = fold([{ source: 1, answer: again }, early], policy);
  expect(best?.slots[0]?.[0]?.signature).toBe(sign(A, digestOf("x"), 0));
});

test("keeps the first of two valid signatures by the same signer", () => {
  const signatures = [1, 0].map((variant) => ({ signer: A, signature: sign(A, digestOf("x"), variant) }));
  const { best } = fold(
    [{ source: 0, answer: { ...line("x", []), lines: [{ text: "x", signatures }] } }],
    policy,
  );
  expect(best?.slots).toEqual([signatures.slice(0, 1)]);
});

test("never combines answers with different digests, even if the route shows no difference", () => {
  const forgetful: AttestationRoute<Lines> = { ...route, unsigned: () => "the same" };
  const [x, y] = [line("x", [[A, "x"]]), line("y", [[B, "y"]])].map((answer, source) =>
    examine({ source, answer }, forgetful, policy, recover),
  );
  expect(x?.key).not.toBe(y?.key);
});

test("recovers at most 256 signatures of a peer's answer, or one for each of its slots", () => {
  const answer: Lines = {
    lines: Array.from({ length: 10 }, () => ({
      text: "x",
      // Over other text, so that no signature counts and each must be recovered.
      signatures: Array.from({ length: 40 }, () => ({ signer: A, signature: sign(A, digestOf("other")) })),
    })),
    domain: "ours",
    remark: "",
  };
  let recoveries = 0;
  const counting = (digest: Hex, signature: string): Address | undefined => {
    recoveries++;
    return recover(digest, signature);
  };
  const { refused } = examine({ source: 0, answer }, route, policy, counting);
  expect(recoveries).toBe(256);
  expect(refused.filter(({ reason }) => reason === "wrongSigner")).toHaveLength(256);
  expect(refused.filter(({ reason }) => reason === "tooMany")).toHaveLength(144);

  const ownAnswer: Lines = {
    ...answer,
    lines: Array.from({ length: 300 }, () => ({
      text: "x",
      signatures: [{ signer: L, signature: sign(L, digestOf("x")) }],
    })),
  };
  const signed = (source: AnswerSource): number =>
    examine({ source, answer: ownAnswer }, route, policy, recover).slots.filter((slot) => slot.has(L)).length;
  expect([signed("local"), signed(0)]).toEqual([300, 300]);
});
