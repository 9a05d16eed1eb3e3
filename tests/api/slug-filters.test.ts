// Lists of applications and environments, filtered by their slugs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

let api: TestApi;
let path: string;

beforeAll(async () => {
  api = await startApi();
  for (const name of ["Web shop", "Web shop", "Blog"]) path = (await newApplication(api, { name })).id;
  path = `/api/applications/${path}/environments`;
  await api.request(path, { json: { name: "Next Year", branch: "next" } });
});

afterAll(() => api.stop());

async function slugsIn(address: string): Promise<string[]> {
  const response = await api.request(address);
  const { data, meta } = (await response.json()) as {
    data: { attributes: { slug: string } }[];
    meta: { total: number };
  };
  expect(meta.total).toBe(data.length);
  return data.map(({ attributes }) => attributes.slug);
}

test("applications are found by slug, alone and with other filters", async () => {
  expect(await slugsIn("/api/applications?filter[slug]=web-shop-2,blog,none")).toEqual([
    "web-shop-2",
    "blog",
  ]);
  expect(await slugsIn("/api/applications?filter[slug]=web-shop-2&filter[name]=Blog")).toEqual([]);
  expect(await slugsIn("/api/applications?filter[slug]=blog&filter[region]=us-east-1")).toEqual([]);
});

test("environments are found by slug, alone and with other filters", async () => {
  expect(await slugsIn(`${path}?filter[slug]=next-year`)).toEqual(["next-year"]);
  expect(await slugsIn(`${path}?filter[slug]=next-year,production&filter[status]=running`)).toEqual([
    "production",
    "next-year",
  ]);
  expect(await slugsIn(`${path}?filter[slug]=next-year&filter[name]=production`)).toEqual([]);
});
