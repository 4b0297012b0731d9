import { expect, test } from "vitest";
import { readPeerList } from "./peer-list.ts";

test("reads entries of a base URL, a bar and a credential", () => {
  expect(readPeerList("https://a.example|key-1;http://10.0.0.7:8080/oracle|pass-through")).toEqual({
    peers: [
      { baseUrl: "https://a.example", credential: "key-1" },
      { baseUrl: "http://10.0.0.7:8080/oracle", credential: undefined },
    ],
    problems: [],
  });
});

test("allows bars in a credential, because the first bar is the separator", () => {
  expect(readPeerList("https://a.example|k|e|y").peers).toEqual([
    { baseUrl: "https://a.example", credential: "k|e|y" },
  ]);
});

test("ignores a trailing ;, spaces around entries and slashes after a URL", () => {
  expect(readPeerList(" https://a.example/x/ | key ; https://b.example//|key2; ")).toEqual({
    peers: [
      { baseUrl: "https://a.example/x", credential: "key" },
      { baseUrl: "https://b.example", credential: "key2" },
    ],
    problems: [],
  });
});

test("accepts an empty list", () => {
  expect(readPeerList("")).toEqual({ peers: [], problems: [] });
});

test("refuses two entries with equivalent base URLs", () => {
  for (const twin of ["https://a.example", "https://A.example/", "https://a.example:443"])
    expect(readPeerList(`https://a.example|one;${twin}|two`).problems).toEqual([
      "PEERS entry 2 repeats the base URL of entry 1",
    ]);
  expect(readPeerList("https://127.0.0.1|one;https://127.0.0.1/x|one;http://127.0.0.1|one").problems).toEqual(
    [],
  );
});

test("reports an unusable entry by its position, without its credential", () => {
  for (const entry of [
    "https://b.example",
    "https://b.example|",
    "https://b.example| ",
    "|secret",
    "b.example|secret",
    "ftp://b.example|secret",
    "https://user:secret@b.example|secret",
    "https://b.example?key=secret|secret",
    "https://b.example#secret|secret",
    "https://b.example|sec ret",
    "https://b.example|secret\r\nx-forged: 1",
    "https://b.example|secrét",
    "",
  ]) {
    const { problems } = readPeerList(`https://a.example|key;${entry};https://c.example|key`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^PEERS entry 2 /);
    expect(problems[0]).not.toMatch(/secret|example/);
  }
});

test("accepts plain http only for private addresses, and reports neither host nor credential", () => {
  for (const host of [
    "localhost:8080",
    "127.0.0.1",
    "10.255.0.1",
    "172.31.0.1",
    "192.168.1.1",
    "[::1]:80",
    "[fd12::1]",
    "oracle-b",
    "oracle.internal",
    "oracle-b.oracles.svc.cluster.local:3001",
  ])
    expect([host, readPeerList(`http://${host}|key`).problems]).toEqual([host, []]);
  for (const host of [
    "peer.example",
    "local.example",
    "8.8.8.8",
    "172.32.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "[2001:4860::1]",
    "[::ffff:8.8.8.8]",
    "localhost.example",
    "10.0.0.1.example",
  ]) {
    expect([host, readPeerList(`http://${host}|secret`).problems]).toEqual([
      host,
      [
        "PEERS entry 1 must use https; http sends the key unencrypted and is accepted only for private addresses (loopback and private IP addresses, names without a dot, names that end in .internal or .local)",
      ],
    ]);
    expect(readPeerList(`https://${host}|secret`).problems).toEqual([]);
  }
});
