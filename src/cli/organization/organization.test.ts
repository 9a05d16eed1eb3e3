// Tests of `pilvi organization` against a server that speaks the documented shape.
import { afterEach, expect, test } from "bun:test";
import type { OrganizationDocument } from "../../sdk/index.ts";
import { closeServers, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

afterEach(closeServers);

const amount = (used: number, limit: number | null = null) => ({ used, limit });
const document: OrganizationDocument = {
  data: {
    id: "org-1",
    type: "organizations",
    attributes: { name: "default", slug: "default" },
    meta: {
      quotas: {
        resources: amount(3, 2000),
        caches: amount(3),
        databases: amount(0),
        websockets: amount(0),
        applications: amount(0),
        memory_bytes: amount(262_144_000, 2048 * 1024 ** 4),
        storage_bytes: amount(0),
        connections: amount(0),
        ports: amount(3, 5000),
      },
      shares_quotas: false,
      notices: ["The organization has too much."],
      token: {
        id: "token-1",
        name: "laptop",
        quotas: {
          resources: amount(1, 5),
          memory_bytes: amount(0),
          storage_bytes: amount(0),
          connections: amount(0),
        },
      },
    },
  },
};

test("organization shows its quotas beside those of the token, and with --json the document", async () => {
  const url = serve({ "GET /meta/organization": () => Response.json(document) });
  const io = fakeIo();
  await runCommand(io, url, "organization");
  expect(io.stdout).toMatch(/^Organization +default\nId +org-1\nToken +laptop$/m);
  expect(io.stdout).toMatch(/^resources +3 +2000 +1 +5$/m);
  expect(io.stdout).toMatch(/^caches +3 +none$/m);
  expect(io.stdout).toMatch(/^memory +250 MiB +2048 TiB +0 MiB +none$/m);
  expect(io.stdout).toEndWith("\nThe organization has too much.");
  const json = fakeIo();
  await runCommand(json, url, "organization", "--json");
  expect(JSON.parse(json.stdout)).toEqual(document);
});
