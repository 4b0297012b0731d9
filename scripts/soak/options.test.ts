import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("defaults to a plain load with a random seed", () => {
  expect(readOptions([], 42)).toMatchObject({
    mode: "load",
    requests: 200,
    chaos: false,
    seed: 42,
    portBase: 19_500,
  });
});

test("--lane sets the number of fills", () => {
  expect(readOptions(["--lane", "100"], 1)).toMatchObject({ mode: "lane", requests: 100 });
});

test("--takeovers sets how often the leading worker is killed, frozen or disconnected", () => {
  expect(readOptions(["--takeovers", "20"], 1)).toMatchObject({ mode: "takeovers", takeovers: 20 });
  expect(() => readOptions(["--takeovers", "201"], 1)).toThrow("--takeovers");
  expect(() => readOptions(["--takeovers", "20", "--chaos"], 1)).toThrow("--chaos");
});

test("--watched cannot be combined with chaos or routes", () => {
  expect(readOptions(["--watched"], 1)).toMatchObject({ mode: "load", watched: true });
  expect(() => readOptions(["--watched", "--chaos"], 1)).toThrow("without --chaos");
  expect(() => readOptions(["--watched", "--routes"], 1)).toThrow("--watched is only supported");
});

test("accepts only one mode per run", () => {
  expect(readOptions(["--routes"], 1)).toMatchObject({ mode: "routes" });
  expect(() => readOptions(["--routes", "--lane", "10"], 1)).toThrow(
    "--routes and --families are mutually exclusive",
  );
});

test("refuses invalid numbers and names the option", () => {
  for (const value of ["0", "-1", "1.5", "many", "99999"])
    expect(() => readOptions([`--requests=${value}`], 1)).toThrow("--requests");
});

test("refuses options that cannot be combined", () => {
  expect(() => readOptions(["--lane", "10", "--chaos"], 1)).toThrow("--chaos");
  expect(() => readOptions(["--kills", "3"], 1)).toThrow("--chaos");
  expect(() => readOptions(["--nonsense"], 1)).toThrow(TypeError);
  expect(() => readOptions(["--families", "--chaos", "--reorgs", "3"], 1)).toThrow(
    "--reorgs is not supported with --families",
  );
});
