// The values of a form.
import { expect, test } from "bun:test";
import { valuesOf, valuesSince } from "./form-fields.ts";

test("a field that was changed or emptied after the form was sent keeps that", () => {
  const sent = { name: "shop", size: "1gb", branch: undefined, port: 80 };
  const present = { name: "store", size: "1gb", branch: undefined, port: undefined, runtime: "node" };
  expect(valuesSince(sent, present)).toStrictEqual({ name: "store", port: undefined, runtime: "node" });
});

test("only the values that were given are kept for another type", () => {
  expect(valuesOf(["name", "region"], { name: "shop", size: "1gb" })).toStrictEqual({ name: "shop" });
});
