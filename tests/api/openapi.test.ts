// The OpenAPI document: complete in itself, equal to the API's answers, and rendered without a request to another host.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type * as docs from "../../src/api/http/docs.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import {
  bodyValidatorOf,
  documentOf,
  expectDocumented,
  validatorOf,
  type Document,
  type Json,
} from "../support/api/openapi.ts";

let api: TestApi;
let document: Document;
beforeAll(async () => {
  api = await startApi();
  document = await documentOf(api);
});
afterAll(() => api.stop());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

describe("the OpenAPI document", () => {
  test("is sent compressed to clients that ask for it, for the address that they used", async () => {
    for (const encoding of ["gzip", "br"]) {
      for (const host of ["127.0.0.1", "cloud.example"]) {
        const headers = { "accept-encoding": encoding, host };
        const answer = await fetch(`${api.origin}/openapi.json`, { headers, decompress: false });
        expect(answer.headers.get("content-encoding")).toBe(encoding);
        const bytes = Buffer.from(await answer.bytes());
        expect(bytes.length).toBeLessThan(80_000);
        const text = encoding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes);
        const servers = [{ url: `http://${host}/api` }];
        expect(JSON.parse(text.toString())).toEqual({ ...document, servers });
      }
    }
    const plain = await fetch(`${api.origin}/openapi.json`, { headers: { "accept-encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.json()).toEqual(document);
  });

  test("is compressed for a few addresses in a minute, and sent as it is for any others", async () => {
    const hosts = Array.from({ length: 60 }, (_, index) => `127.0.0.1:${1 + index}`);
    const encodings = await Promise.all(
      hosts.map(async (host) => {
        const answer = await fetch(`${api.origin}/openapi.json`, {
          headers: { "accept-encoding": "br", host },
        });
        expect((await answer.json()) as Document).toEqual({
          ...document,
          servers: [{ url: `http://${host}/api` }],
        });
        return answer.headers.get("content-encoding");
      }),
    );
    // The minute may end meanwhile.
    expect(encodings.filter((encoding) => encoding === "br").length).toBeLessThanOrEqual(2 * 16);
  });

  test("has a part with the bodies of requests and all schemas that these name", async () => {
    const answer = await fetch(`${api.origin}/openapi.json?part=requests`);
    const text = await answer.text();
    const { paths, components } = JSON.parse(text) as Document;
    expect(text.length).toBeLessThan(100_000);
    expect(Object.keys(paths["/caches"] ?? {})).toEqual(["post"]);
    const schemas: Record<string, unknown> = components.schemas;
    for (const [, name = ""] of text.matchAll(/#\/components\/schemas\/([^"]+)"/g)) {
      expect([name, schemas[name]]).toEqual([name, document.components.schemas[name] as never]);
    }
    expect(schemas).not.toHaveProperty("Activity");
  });

  test("names the version, the requested address, and every operation once", () => {
    expect(document.openapi).toStartWith("3.1");
    expect(document.info.version).toBe("0.0.1");
    expect(document.servers).toEqual([{ url: `${api.origin}/api` }]);
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(ids).toContainValues(["createCache", "listCaches", "getCache", "deleteCache", "listCacheTypes"]);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test("has no dangling reference", () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g);
    for (const [, pointer = ""] of references) {
      const target = pointer
        .split("/")
        .slice(1)
        .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);
      expect(target).toBeDefined();
    }
  });

  test("describes every operation, parameter and answer, and the variables of its paths", () => {
    for (const { path, operation } of operations()) {
      expect(operation.summary).not.toBe("");
      const isForAll = path === "/meta/organization";
      expect(operation.description).toMatch(
        isForAll
          ? /Every valid token may\.$/
          : /`(caches|databases|websockets|applications|members|tokens|usage|activity):(read|write|credentials)`|Only a signed-in user may\.$|Needs no authentication\.$/,
      );
      for (const parameter of operation.parameters ?? []) expect(parameter.description).not.toBeEmpty();
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      for (const status of ["401", ...(isForAll ? [] : ["403"]), "429", "500", "503"])
        expect(operation.responses).toHaveProperty(status);
    }
  });

  test("has the member with the empty name", () => {
    expect(document.components.schemas.CacheConnection?.properties).toHaveProperty([""]);
    expect(document.components.schemas.CacheConnection?.required).toContain("");
  });

  test("has examples of errors that match their schemas", () => {
    for (const response of Object.values(document.components.responses)) {
      const media = response.content?.["application/json"];
      if (media === undefined) throw new Error("an error has a body");
      expect(validatorOf(document, media.schema).safeParse(media.example).success).toBe(true);
    }
  });
});

const post = (json: unknown, headers: Record<string, string> = {}) =>
  api.request("/api/caches", { json, headers });
const text = (body: string, contentType: string) =>
  api.request("/api/caches", { method: "POST", body, headers: { "Content-Type": contentType } });

describe("the documented shapes", () => {
  test("match the answers of creates", async () => {
    const key = { "Idempotency-Key": "documented" };
    const created = await post(validCache, key);
    const { id } = ((await created.clone().json()) as { data: { id: string } }).data;
    const reader = await api.newToken(["caches:read"]);
    const writer = await api.newToken(["caches:write"]);
    const answers = [
      created,
      await post(validCache, key),
      await api.request("/api/caches", { json: validCache, token: writer }),
      await post({}),
      await post([]),
      await text("{", "application/json"),
      await text("{}", "text/plain"),
      await text(`"${"a".repeat(1024 ** 2)}"`, "application/json"),
      await api.request("/api/caches", { json: validCache, token: null }),
      await api.request("/api/caches", { json: validCache, token: reader }),
    ];
    await api.db.begin((tx) => eraseCache(tx, id));
    answers.push(await post(validCache, key));
    expect(answers.map(({ status }) => status)).toEqual([
      201, 201, 201, 422, 422, 400, 415, 413, 401, 403, 409,
    ]);
    for (const answer of answers) await expectDocumented(document, "/caches", "post", answer);
  });

  test("match the answers of reads, lists and deletes", async () => {
    const created = await post(validCache);
    const { id } = ((await created.json()) as { data: { id: string } }).data;
    await api.db`
      update caches set engine = ${{ name: "valkey", version: "8.0.6" }}, limits = ${{ memoryBytes: 1 }} where id = ${id}`;
    const requests: [path: string, documented: string, method: string, status: number][] = [
      [`/api/caches/${id}`, "/caches/{id}", "get", 200],
      [`/api/caches/${id}?include=environments&wait=creating`, "/caches/{id}", "get", 200],
      [`/api/caches/${id}?include=x`, "/caches/{id}", "get", 400],
      [`/api/caches/${id}?wait=x`, "/caches/{id}", "get", 422],
      ["/api/caches/x", "/caches/{id}", "get", 404],
      ["/api/caches", "/caches", "get", 200],
      ["/api/caches?per_page=1&page=2&include=environments", "/caches", "get", 200],
      ["/api/caches?page=50", "/caches", "get", 200],
      ["/api/caches?filter[x]=1", "/caches", "get", 400],
      ["/api/caches?filter[type]=1", "/caches", "get", 422],
      ["/api/caches/types", "/caches/types", "get", 200],
      [`/api/caches/${id}`, "/caches/{id}", "delete", 204],
      ["/api/caches/x", "/caches/{id}", "delete", 404],
    ];
    for (const [path, documented, method, status] of requests) {
      const response = await api.request(path, { method: method.toUpperCase() });
      expect(response.status).toBe(status);
      await expectDocumented(document, documented, method, response);
    }
  });

  test("accept or refuse the same requests as the API", async () => {
    const validator = bodyValidatorOf(document, "/caches", "post");
    const values = [
      null,
      "",
      "valkey-flex-250mb",
      "1gb",
      "hosted_redis",
      "allkeys-lru",
      "ab",
      0,
      1,
      60,
      61,
      1.5,
      true,
    ];
    const members = [
      ...Object.keys(validCache),
      "eviction_policy",
      "is_public",
      "hibernation_timeout",
      "other",
    ];
    for (const member of members) {
      for (const value of values) {
        const body = { ...validCache, [member]: value };
        const { status } = await post(body);
        expect({ body, isTaken: status === 201 }).toEqual({
          body,
          isTaken: validator.safeParse(body).success,
        });
      }
    }
  });
});

describe("the documentation page", () => {
  test("sends no request to another host", async () => {
    const pages = await Promise.all(
      ["/", "/docs", "/docs/start.js"].map(async (path) => await (await fetch(api.origin + path)).text()),
    );
    for (const page of pages) expect(page).not.toMatch(/https?:|["'(]\/\//);
    const { headers } = await fetch(`${api.origin}/docs`);
    expect(headers.get("content-security-policy")).toStartWith("default-src 'self';");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test("finds its files, from the source and from a bundle", async () => {
    expect((await fetch(`${api.origin}/docs/style.css`)).headers.get("content-type")).toStartWith("text/css");
    expect(await (await fetch(`${api.origin}/docs/script.js`)).text()).toContain("SwaggerUIBundle");
    const folder = mkdtempSync(join(tmpdir(), "pilvi-bundle-"));
    const source = join(import.meta.dir, "../../src/api/http/docs.ts");
    const built = await Bun.build({ entrypoints: [source], target: "bun", outdir: folder });
    expect(built.success).toBe(true);
    const bundle = (await import(join(folder, "docs.js"))) as typeof docs;
    const app = bundle.docsRoutes(() => ({ openapi: "3.1.0", info: { title: "", version: "" } }));
    expect(await (await app.request("/docs/script.js")).text()).toContain("SwaggerUIBundle");
    expect((await app.request("/docs/style.css")).status).toBe(200);
    rmSync(folder, { recursive: true });
  });
});
