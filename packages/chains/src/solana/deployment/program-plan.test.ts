import { createAddressWithSeed, address } from "@solana/kit";
import { sha256, toHex } from "@causeway/domain";
import { UPGRADEABLE_LOADER } from "@causeway/families/solana";
import { expect, test } from "vitest";
import { programDeployer } from "./program-chain.ts";
import { planProgram, type ProgramInputs } from "./program-plan.ts";

const elf = Uint8Array.of(1, 2, 3);
const [first, second] = await Promise.all([
  programDeployer(`0x${"11".repeat(32)}`),
  programDeployer(`0x${"22".repeat(32)}`),
]);

async function programOf(changes: Partial<ProgramInputs> = {}): Promise<string> {
  const { program } = await planProgram({
    elf,
    deployer: first.address,
    owner: undefined,
    location: { kind: "new", key: first },
    depository: { chainName: "solana", owner: first.address, allocator: second.address },
    ...changes,
  });
  return program;
}

test("the same key and inputs give the same program, as resuming requires", async () => {
  expect(await programOf()).toBe(await programOf());
  const key = await programDeployer(`0x${"11".repeat(32)}`);
  expect(await programOf({ location: { kind: "new", key } })).toBe(await programOf());
});

test("every input changes the program's address", async () => {
  const depository = { chainName: "solana", owner: first.address, allocator: second.address };
  const programs = await Promise.all([
    programOf(),
    programOf({ elf: Uint8Array.of(1, 2, 4) }),
    programOf({ owner: second.address }),
    programOf({ depository: undefined }),
    programOf({ depository: { ...depository, chainName: "solana-devnet" } }),
    programOf({ depository: { ...depository, allocator: first.address } }),
  ]);
  expect(new Set(programs).size).toBe(programs.length);
});

test("others cannot derive the address from what they know", async () => {
  // The same account and inputs, signed by another key.
  expect(await programOf({ location: { kind: "new", key: second } })).not.toBe(await programOf());
  const text = ["Causeway program", toHex(sha256(elf)), "solana", "none", second.address].join("\n");
  const guessed = await createAddressWithSeed({
    baseAddress: address(first.address),
    seed: toHex(sha256(Buffer.concat([Uint8Array.of(0xff), Buffer.from(text, "utf8")]))).slice(2, 34),
    programAddress: UPGRADEABLE_LOADER,
  });
  expect(await programOf()).not.toBe(guessed);
});
