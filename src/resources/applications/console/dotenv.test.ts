// Tests the reading of .env files in the console.
import { expect, test } from "bun:test";
import { parseDotenv } from "./dotenv.ts";

const read = (text: string) =>
  Object.fromEntries(parseDotenv(text).variables.map(({ key, value }) => [key, value]));

test("plain lines, comments, export and blank lines", () => {
  const text = "# a comment\nA=1\n\n  export B = two words # why\nC=\nD=a#b\r\nE=x=y\n";
  expect(read(text)).toEqual({ A: "1", B: "two words", C: "", D: "a#b", E: "x=y" });
});

test("values in quotes keep hashes, blanks and lines, and double quotes have escapes", () => {
  const text = `A="x # y" # why\nB=' $z '\nC="one\\ntwo \\"three\\""\nKEY="-----BEGIN\nabc\n-----END"\nF=\`it's\`\nG=1`;
  expect(read(text)).toEqual({
    A: "x # y",
    B: " $z ",
    C: 'one\ntwo "three"',
    KEY: "-----BEGIN\nabc\n-----END",
    F: "it's",
    G: "1",
  });
});

test("the last of several values counts", () => {
  expect(read("A=1\nA=2")).toEqual({ A: "2" });
});

test("a quote that never ends is a part of its value", () => {
  expect(read(`A="open\nB=2`)).toEqual({ A: '"open', B: "2" });
});

test("lines that are no variables are named by their numbers", () => {
  const text = `A="one\ntwo"\nnonsense\n1B=2\nC=3`;
  expect(parseDotenv(text).faultyLines).toEqual([3, 4]);
  expect(read(text)).toEqual({ A: "one\ntwo", C: "3" });
});
