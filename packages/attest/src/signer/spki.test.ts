import { createECDH, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { pointOfSpki } from "./spki.ts";

function spki(namedCurve: string): Buffer {
  return generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "der", type: "spki" });
}

test("reads the point of a secp256k1 key", () => {
  for (let n = 0; n < 10; n++) {
    const der = spki("secp256k1");
    expect(pointOfSpki(der)).toEqual(der.subarray(-65));
  }
});

test("refuses a key of another curve or type", () => {
  for (const curve of ["prime256v1", "secp384r1", "secp224k1", "brainpoolP256r1"])
    expect(pointOfSpki(spki(curve)), curve).toBeUndefined();
  const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  expect(pointOfSpki(rsa.export({ format: "der", type: "spki" }))).toBeUndefined();
  const ed25519 = generateKeyPairSync("ed25519").publicKey;
  expect(pointOfSpki(ed25519.export({ format: "der", type: "spki" }))).toBeUndefined();
});

test("refuses a compressed point, a missing or extra byte, and a changed byte before the coordinates", () => {
  const der = spki("secp256k1");
  expect(pointOfSpki(der.subarray(0, -1))).toBeUndefined();
  expect(pointOfSpki(Buffer.concat([der, Buffer.from([0])]))).toBeUndefined();
  expect(pointOfSpki(new Uint8Array())).toBeUndefined();
  for (let offset = 0; offset < der.length - 64; offset++) {
    const changed = Buffer.from(der);
    changed[offset] = (changed[offset] ?? 0) ^ 1;
    expect(pointOfSpki(changed), `byte ${offset}`).toBeUndefined();
  }
  const ecdh = createECDH("secp256k1");
  ecdh.generateKeys();
  const short = Buffer.from("3036301006072a8648ce3d020106052b8104000a032200", "hex");
  expect(pointOfSpki(Buffer.concat([short, ecdh.getPublicKey(null, "compressed")]))).toBeUndefined();
});

test("refuses coordinates that are not on the curve", () => {
  const der = spki("secp256k1");
  for (const offset of [30, 60, 87]) {
    const changed = Buffer.from(der);
    changed[offset] = (changed[offset] ?? 0) ^ 1;
    expect(pointOfSpki(changed)).toBeUndefined();
  }
  // The point with x = 1, and the same point with the field's size added to x, which is not canonical.
  const y = "4218f20ae6c646b363db68605822fb14264ca8d2587fdd6fbc750d587e76a7ee";
  const head = der.subarray(0, -64).toString("hex");
  const one = "1".padStart(64, "0");
  const above = (2n ** 256n - 2n ** 32n - 977n + 1n).toString(16);
  expect(pointOfSpki(Buffer.from(head + one + y, "hex"))).toBeDefined();
  expect(pointOfSpki(Buffer.from(head + above + y, "hex"))).toBeUndefined();
});
