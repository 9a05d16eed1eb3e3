// Texts of statements: what is cut, and which passwords are left out.
import { describe, expect, test } from "bun:test";
import { MAX_TEXT_CHARACTERS } from "../contracts/queries.ts";
import { boundedName, statementText } from "./statement-text.ts";

describe("the text of a statement", () => {
  test.each([
    ["postgres", "create role bob password 'x' login", "create role bob password"],
    ["postgres", "alter role bob PASSWORD E'a\\'b'", "alter role bob PASSWORD"],
    ["postgres", "do $$ begin alter role a password $a$x$a$; end $$", "do $$ begin alter role a password"],
    [
      "postgres",
      "create subscription s connection 'host=h password=x'",
      "create subscription s connection 'host=h password",
    ],
    ["mysql", 'create user bob identified by "x"', "create user bob identified"],
    ["mysql", "set password for bob = password('x')", "set password"],
  ] as const)("of %s ends where a password may follow: %s", (protocol, text, shown) => {
    expect(statementText(text, false, protocol)).toEqual({ text: shown, isCut: true });
  });

  test.each(['select "password" from "users" where "id" = $1', "select 'x' as first, password from users"])(
    "without a text after the word is whole: %s",
    (text) => {
      expect(statementText(text, false, "postgres")).toEqual({ text, isCut: false });
    },
  );

  test("is cut to its bound, with no half of a character at its end", () => {
    const { text, isCut } = statementText(`${"x".repeat(MAX_TEXT_CHARACTERS - 1)}😀`, false, "mysql");
    expect(isCut).toBe(true);
    expect(text).toHaveLength(MAX_TEXT_CHARACTERS);
    expect(text?.isWellFormed()).toBe(true);
  });

  test("that the engine has cut counts as cut", () => {
    expect(statementText("select 1", true, "postgres")).toEqual({ text: "select 1", isCut: true });
  });
});

test("an empty name counts as no name", () => {
  expect([boundedName(""), boundedName(null), boundedName("app")]).toEqual([null, null, "app"]);
});
