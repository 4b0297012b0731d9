import { expect, test } from "vitest";
import { readPeerList } from "./peer-list.ts";

test("each entry is a base URL, a bar and a credential", () => {
  expect(readPeerList("https://a.example|key-1;http://b.example:8080/oracle|pass-through")).toEqual({
    peers: [
      { baseUrl: "https://a.example", credential: "key-1" },
      { baseUrl: "http://b.example:8080/oracle", credential: undefined },
    ],
    problems: [],
  });
});

test("a credential may contain bars: the first one separates", () => {
  expect(readPeerList("https://a.example|k|e|y").peers).toEqual([
    { baseUrl: "https://a.example", credential: "k|e|y" },
  ]);
});

test("a ; at the end, blanks around entries and slashes behind a URL mean nothing", () => {
  expect(readPeerList(" https://a.example/x/ | key ; https://b.example//|key2; ")).toEqual({
    peers: [
      { baseUrl: "https://a.example/x", credential: "key" },
      { baseUrl: "https://b.example", credential: "key2" },
    ],
    problems: [],
  });
});

test("no peers is a list too", () => {
  expect(readPeerList("")).toEqual({ peers: [], problems: [] });
});

test("one base URL in two entries is refused, however it is written", () => {
  for (const twin of ["https://a.example", "https://A.example/", "https://a.example:443"])
    expect(readPeerList(`https://a.example|one;${twin}|two`).problems).toEqual([
      "PEERS entry 2 has the base URL of entry 1",
    ]);
  expect(readPeerList("https://a.example|one;https://a.example/x|one;http://a.example|one").problems).toEqual(
    [],
  );
});

test("what cannot be asked is refused by its place, and no problem shows a credential", () => {
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
