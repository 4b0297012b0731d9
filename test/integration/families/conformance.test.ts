import type { VmType } from "@causeway/domain";
import { describeFamilies, type StartFamily } from "../../contracts/family-conformance.ts";

// Runs the conformance suite of every family on its node or simulator. For one family, add `-t solana-vm`.

const families: Readonly<Partial<Record<VmType, StartFamily>>> = {
  "ethereum-vm": async () => await (await import("./evm-conformance.ts")).startEvmFamily(),
  "solana-vm": async () => await (await import("./solana-conformance.ts")).startSolanaFamily(),
  "bitcoin-vm": async () => await (await import("./bitcoin-conformance.ts")).startBitcoinFamily(),
  "tron-vm": async () => await (await import("./tron-conformance.ts")).startTronFamily(),
  // Each family has a file `<family>-conformance.ts` in this folder, and one line here: "x-vm": async
  // (mappings) => await (await import("./x-conformance.ts")).startXFamily(mappings),
  "hyperliquid-vm": async (mappings) =>
    await (await import("./hyperliquid-conformance.ts")).startHyperliquidFamily(mappings),
  "lighter-vm": async () => await (await import("./lighter-conformance.ts")).startLighterFamily(),
};

describeFamilies(families, [
  "ethereum-vm",
  "solana-vm",
  "bitcoin-vm",
  "hyperliquid-vm",
  "lighter-vm",
  "tron-vm",
]);
