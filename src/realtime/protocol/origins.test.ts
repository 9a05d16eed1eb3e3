// Which origins are allowed.
import { describe, expect, test } from "bun:test";
import { AllowedOrigins } from "./origins.ts";

describe("an origin", () => {
  test.each([
    [[], null, true],
    [[], "https://any.example", true],
    [["*"], null, true],
    [["example.com"], null, false],
    [["example.com"], "", false],
    [["example.com"], "null", false],
    [["example.com"], "https://example.com", true],
    [["example.com"], "http://example.com:8080", true],
    [["EXAMPLE.com"], "https://Example.COM", true],
    [["example.com"], "https://example.com.evil.org", false],
    [["example.com"], "https://evilexample.com", false],
    [["example.com"], "https://sub.example.com", false],
    [["*.example.com"], "https://sub.example.com", true],
    [["*.example.com"], "https://a.b.example.com", true],
    [["*.example.com"], "https://example.com", false],
    [["*.example.com"], "https://.example.com", false],
    [["*.example.com"], "https://evilexample.com", false],
    [["https://example.com"], "https://example.com", true],
    [["https://example.com"], "https://example.com:443", true],
    [["https://example.com"], "http://example.com", false],
    [["https://example.com"], "https://example.com:8443", false],
    [["https://example.com:*"], "https://example.com:8443", true],
    [["https://example.com:8443"], "https://example.com:8443", true],
    [["https://*.example.com"], "https://sub.example.com", true],
    [["https://*.example.com"], "http://sub.example.com", false],
    [["localhost:3000"], "http://localhost:3000", true],
    [["localhost:3000"], "http://localhost:3001", false],
    [["http://[::1]:3000"], "http://[::1]:3000", true],
    [["a.example", "b.example"], "https://b.example", true],
    [["not a host"], "https://not a host", false],
  ] as [string[], string | null, boolean][])("for %p of %p: %p", (allowed, origin, isAllowed) => {
    expect(new AllowedOrigins(allowed).includes(origin)).toBe(isAllowed);
  });
});
