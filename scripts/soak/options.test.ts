import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("without options it is a plain load with the seed that was drawn", () => {
  expect(readOptions([], 42)).toMatchObject({
    mode: "load",
    requests: 200,
    chaos: false,
    seed: 42,
    portBase: 19_500,
  });
});

test("the number of a lane is the number of its fills", () => {
  expect(readOptions(["--lane", "100"], 1)).toMatchObject({ mode: "lane", requests: 100 });
});

test("the number of takeovers is how often the leading worker is broken", () => {
  expect(readOptions(["--takeovers", "20"], 1)).toMatchObject({ mode: "takeovers", takeovers: 20 });
  expect(() => readOptions(["--takeovers", "201"], 1)).toThrow("--takeovers");
  expect(() => readOptions(["--takeovers", "20", "--chaos"], 1)).toThrow("--chaos");
});

test("a watched run breaks nothing", () => {
  expect(readOptions(["--watched"], 1)).toMatchObject({ mode: "load", watched: true });
  expect(() => readOptions(["--watched", "--chaos"], 1)).toThrow("without --chaos");
  expect(() => readOptions(["--watched", "--routes"], 1)).toThrow("--watched is only supported");
});

test("of the kinds of a run there is one at a time", () => {
  expect(readOptions(["--routes"], 1)).toMatchObject({ mode: "routes" });
  expect(() => readOptions(["--routes", "--lane", "10"], 1)).toThrow(
    "--routes and --families are mutually exclusive",
  );
});

test("numbers that make no sense are refused with the option's name", () => {
  for (const bad of ["0", "-1", "1.5", "many", "99999"])
    expect(() => readOptions([`--requests=${bad}`], 1)).toThrow("--requests");
});

test("refuses options that cannot be combined", () => {
  expect(() => readOptions(["--lane", "10", "--chaos"], 1)).toThrow("--chaos");
  expect(() => readOptions(["--kills", "3"], 1)).toThrow("--chaos");
  expect(() => readOptions(["--nonsense"], 1)).toThrow(TypeError);
  expect(() => readOptions(["--families", "--chaos", "--reorgs", "3"], 1)).toThrow(
    "--reorgs is not supported with --families",
  );
});
