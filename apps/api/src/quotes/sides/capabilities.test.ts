import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Capabilities,
  EVM_CAPABILITIES,
  unsupportedEnd,
  requirements,
  refuseIncapable,
  TRANSFER_CAPABILITIES,
} from "./capabilities.ts";

const capabilities = Object.keys(EVM_CAPABILITIES) as (keyof Capabilities)[];
const someCapabilities: fc.Arbitrary<Capabilities> = fc
  .record(Object.fromEntries(capabilities.map((capability) => [capability, fc.boolean()])))
  .map((values) => values as unknown as Capabilities);

/** Each option, as a quote requests it. */
const requested: Partial<QuoteInput> = {
  fixedRate: "1:1",
  useDepositAddress: true,
  usePermit: true,
  originGasOverhead: "80000",
  txs: [{ to: `0x${"11".repeat(20)}`, value: "0", data: "0x" }],
  topupGas: true,
};
const someOptions = fc.subarray(Object.keys(requested) as (keyof QuoteInput)[]).map((fields) => ({
  fields,
  input: Object.fromEntries(fields.map((field) => [field, requested[field]])) as unknown as QuoteInput,
}));

test("refuses an option only if the end that must support it does not, and names field, chain and reason", () => {
  fc.assert(
    fc.property(someCapabilities, someCapabilities, someOptions, (from, to, { fields, input }) => {
      const ends = {
        origin: { can: from, displayName: "Here" },
        destination: { can: to, displayName: "There" },
      };
      const messages = Object.values(requirements).flatMap((need) => {
        const lacking = unsupportedEnd(need, ends);
        if (need.option === undefined || lacking === undefined || !fields.includes(need.option.field))
          return [];
        const chain = lacking === "origin" ? "from Here" : "to There";
        return [`${need.option.field} is not supported ${chain}: ${need.why}`];
      });
      let refusal: unknown;
      try {
        refuseIncapable(ends, input);
      } catch (error) {
        refusal = error;
      }
      if (messages.length === 0) {
        expect(refusal).toBeUndefined();
        return;
      }
      if (!(refusal instanceof ServiceError)) throw new Error("an option was not refused");
      expect(messages).toContain(refusal.message);
      expect(fields).toContain(refusal.facts.field);
    }),
  );
});

test("does not refuse an option that is not requested", () => {
  const nowhere = { can: TRANSFER_CAPABILITIES, displayName: "Nowhere" };
  const unrequested = {
    useDepositAddress: false,
    usePermit: false,
    originGasOverhead: 0,
    txs: [],
    topupGas: false,
  };
  for (const input of [{}, unrequested])
    refuseIncapable({ origin: nowhere, destination: nowhere }, input as unknown as QuoteInput);
});

test("requires support for an option only at its own end", () => {
  const [evm, transfer] = [{ can: EVM_CAPABILITIES }, { can: TRANSFER_CAPABILITIES }];
  const lacking = (ends: Parameters<typeof unsupportedEnd>[1]): readonly string[] =>
    Object.entries(requirements).flatMap(([feature, need]) =>
      unsupportedEnd(need, ends) === undefined ? [] : [feature],
    );
  expect(lacking({ origin: evm, destination: evm })).toEqual([]);
  expect(lacking({ origin: evm, destination: transfer }).toSorted()).toEqual([
    "calls",
    "fastFill",
    "gasTopup",
    "swapAfter",
  ]);
  expect(lacking({ origin: transfer, destination: evm }).toSorted()).toEqual([
    "depositAddress",
    "originGas",
    "permit",
    "swapBefore",
  ]);
});
