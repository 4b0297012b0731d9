import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { address, getAddressDecoder, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { bytesOf, toHex } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  deriveDepositAddress,
  isDepositAddressProgram,
  sweepNativeInstruction,
  type DepositAddressSeeds,
} from "./deposit-addresses.ts";
import { depositoryAccounts } from "./depository-accounts.ts";

const aKey = (): string => getAddressDecoder().decode(randomBytes(32));
const someSeeds = (): DepositAddressSeeds => ({
  depository: aKey(),
  operator: aKey(),
  depositor: aKey(),
  id: toHex(randomBytes(32)),
  strict: false,
});

test("derives the same address as the library, for every order and option", async () => {
  const bytes = (key: string) => getAddressEncoder().encode(address(key));
  const program = aKey();
  for (let n = 0; n < 24; n++) {
    const seeds = { ...someSeeds(), strict: n % 2 === 0 };
    const [expected] = await getProgramDerivedAddress({
      programAddress: address(program),
      seeds: [
        "deposit_address",
        ...[seeds.depository, seeds.operator, seeds.depositor].map(bytes),
        bytesOf(seeds.id),
        Uint8Array.of(seeds.strict ? 1 : 0),
      ],
    });
    expect(deriveDepositAddress(program, seeds)).toBe(expected);
  }
});

test.each(["depository", "operator", "depositor", "id", "strict"] as const)(
  "an address commits to its %s",
  (field) => {
    const [seeds, program] = [someSeeds(), aKey()];
    const changed = { ...seeds, [field]: field === "strict" ? true : someSeeds()[field] };
    expect(deriveDepositAddress(program, changed)).not.toBe(deriveDepositAddress(program, seeds));
  },
);

test("refuses amounts that are not a uint64", async () => {
  const { depository, ...from } = someSeeds();
  const terms = { program: aKey(), pdas: await depositoryAccounts(depository), from, orderId: from.id };
  for (const [amount, excess] of [
    [2n ** 64n, 0n],
    [1n, -1n],
  ] as const)
    expect(() => sweepNativeInstruction({ ...terms, amount, excess })).toThrow("amount is not a uint64");
});

test("knows the committed program with any upgrade authority, and no other program", () => {
  const folder = new URL("../../../../contracts/solana/", import.meta.url);
  const program = readFileSync(new URL("deposit-address.so", folder));
  const loader = "BPFLoaderUpgradeab1e11111111111111111111111";
  const stored = (bytes: Uint8Array, owner = loader) => ({
    owner,
    lamports: 1n,
    data: Buffer.concat([randomBytes(45), bytes]),
  });
  expect(isDepositAddressProgram(stored(program))).toBe(true);
  expect(isDepositAddressProgram(stored(Buffer.concat([program, Buffer.alloc(64)])))).toBe(true);
  const changed = Uint8Array.from(program);
  changed[100] = (changed[100] ?? 0) ^ 1;
  for (const otherProgram of [
    undefined,
    stored(changed),
    stored(program.subarray(0, -1)),
    stored(Buffer.concat([program, Buffer.of(1)])),
    stored(program, "1".repeat(32)),
  ])
    expect(isDepositAddressProgram(otherProgram)).toBe(false);
  const built = JSON.parse(readFileSync(new URL("built.json", folder), "utf8")) as Record<
    string,
    { readonly program: string }
  >;
  expect(createHash("sha256").update(program).digest("hex")).toBe(built["deposit-address"]?.program);
});
