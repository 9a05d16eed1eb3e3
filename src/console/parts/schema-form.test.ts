// The fields of a form as they are shown.
import { expect, test } from "bun:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { Field, Values } from "./form-fields.ts";
import { SchemaFields } from "./schema-form.tsx";

const field = { note: undefined, options: [], isRequired: false };
const fields: Field[] = [
  { ...field, name: "repository", label: "Repository", control: "text", preset: "git@example.com:a.git" },
  { ...field, name: "processes", label: "Processes", control: "number", preset: 3 },
];

function shown(values: Values): string[] {
  const markup = renderToStaticMarkup(
    createElement(SchemaFields, { fields, values, error: null, onChange: () => undefined }),
  );
  return [...markup.matchAll(/<input[^>]*>/g)].map(([input]) => {
    const [, value] = /value="([^"]*)"/.exec(input) ?? [];
    return value || (/placeholder="([^"]*)"/.exec(input)?.[0] ?? "");
  });
}

test("a field shows what is in force until something else is given", () => {
  expect(shown({})).toEqual(["git@example.com:a.git", "3"]);
  expect(shown({ processes: 4 })).toEqual(["git@example.com:a.git", "4"]);
});

test("a field that was emptied is empty, and says that there is a default", () => {
  expect(shown({ repository: undefined, processes: undefined })).toEqual([
    'placeholder="Default"',
    'placeholder="Default"',
  ]);
});
