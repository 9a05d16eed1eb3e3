// The choice of a certificate by the name of a server.
import { describe, expect, test } from "bun:test";
import { ByServerName } from "./certificates.ts";

const chooser = new ByServerName([
  { names: ["pilvi.example.com"], value: "first" },
  { names: ["*.example.com", "example.com"], value: "wildcard" },
  { names: ["db.example.com", "pilvi.example.com"], value: "exact" },
]);

describe("a certificate by server name", () => {
  test.each([
    ["db.example.com", "exact"],
    ["DB.Example.COM", "exact"],
    ["db.example.com.", "exact"],
    ["cache.example.com", "wildcard"],
    ["example.com", "wildcard"],
    ["pilvi.example.com", "first"],
    ["a.b.example.com", "first"],
    ["elsewhere.org", "first"],
    ["com", "first"],
    ["", "first"],
  ])("%s chooses %s", (name, chosen) => {
    expect(chooser.find(name)).toBe(chosen);
  });

  test("a client without a server name gets the first", () => {
    expect(chooser.find(null)).toBe("first");
  });
});
