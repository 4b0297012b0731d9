import { expect, test } from "vitest";
import { signPersonalMessage } from "./personal-message.ts";
import { rawKeySigner } from "./raw-key.ts";

test("signs an order id over its raw bytes, like other implementations", async () => {
  // The published vector of this encoding, with a well-known development key.
  const signer = rawKeySigner("0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a");
  expect(
    await signPersonalMessage(signer, "0x07c755c0cb58596b6e565be3b80930372acfe67b6b1e05fd02922864e7e3e4c1"),
  ).toBe(
    "0xae6cf09a2ccd97a688403cc6582572bdeecdb2b168d7aa00ada6ad7511dd448e0258721aaca2dcd090255f44aa2c1fe76659ac130905db35b79b68151828e6691c",
  );
});
