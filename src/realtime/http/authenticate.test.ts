// Tests of signatures: the published example, and everything that can be wrong with a signature.
import { expect, test } from "bun:test";
import { hmacHex } from "../protocol/signatures.ts";
import { call, KEY, NOW_SECONDS, send, signedQuery, SECRET, TestApplication } from "./test-application.ts";

const BODY = '{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}';
const BODY_MD5 = "ec365a775a4cd0599faeb73354201b6f";
const SIGNATURE = "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c";
const SIGNED = `auth_key=${KEY}&auth_timestamp=1353088179&auth_version=1.0&body_md5=${BODY_MD5}`;

async function answerTo(
  url: string,
  body = BODY,
  application = new TestApplication(),
): Promise<[number, string]> {
  const response = await send(application, "POST", url, body);
  return [response.status, await response.text()];
}

/** Signs any parameters. */
function signed(parameters: string): string {
  const signature = hmacHex(SECRET, `POST\n/apps/3/events\n${parameters}`);
  return `/apps/3/events?${parameters}&auth_signature=${signature}`;
}

test("the published example is accepted", async () => {
  const application = new TestApplication();
  const answer = await answerTo(`/apps/3/events?${SIGNED}&auth_signature=${SIGNATURE}`, BODY, application);
  expect(answer).toEqual([200, "{}"]);
  expect(application.published).toEqual([["project-3", "foo", '{"some":"data"}', undefined]]);
});

test("the order of the parameters and the case of their keys do not matter", async () => {
  const shuffled = `body_md5=${BODY_MD5}&auth_signature=${SIGNATURE}&AUTH_VERSION=1.0&Auth_Key=${KEY}&auth_timestamp=1353088179`;
  expect(await answerTo(`/apps/3/events?${shuffled}`)).toEqual([200, "{}"]);
  expect(await answerTo(`/apps/3/events?&${SIGNED}&&auth_signature=${SIGNATURE}&`)).toEqual([200, "{}"]);
});

test("values are signed unescaped", async () => {
  const application = new TestApplication();
  for (const filter of ["presence-a,b;c=d@e", "sp ace", "plus+", "ümlaut", "100%", "a&b=c"]) {
    const query = { filter_by_prefix: filter, info: "subscription_count" };
    expect(await call(application, "GET", "/channels", { query })).toEqual([200, '{"channels":{}}']);
  }
});

test("a key without a value is signed with an equals sign", async () => {
  const path = "/apps/3/channels";
  const parameters = `auth_key=${KEY}&auth_timestamp=${NOW_SECONDS}&auth_version=1.0&flag`;
  const signature = hmacHex(SECRET, `GET\n${path}\n${parameters}=`);
  const response = await send(
    new TestApplication(),
    "GET",
    `${path}?${parameters}&auth_signature=${signature}`,
  );
  expect(response.status).toBe(200);
});

test("the path may be signed escaped or not", async () => {
  const application = new TestApplication();
  const escaped = "/apps/3/users/a%20b%2Fc/terminate_connections";
  for (const path of [escaped, decodeURIComponent(escaped)]) {
    const response = await send(application, "POST", `${escaped}?${signedQuery("POST", path, {})}`);
    expect(response.status).toBe(200);
  }
  expect(application.terminated).toEqual(["a b/c", "a b/c"]);
});

test("any valid secret may sign", async () => {
  const application = new TestApplication();
  application.secrets = ["another", SECRET];
  expect((await call(application, "GET", "/channels"))[0]).toBe(200);
  application.secrets = ["another"];
  expect((await call(application, "GET", "/channels"))[0]).toBe(401);
  application.secrets = [];
  expect((await call(application, "GET", "/channels"))[0]).toBe(401);
});

test("a wrong signature is answered with the text to sign", async () => {
  const text = `POST\\n/apps/3/events\\n${SIGNED}`;
  for (const wrong of ["asdf", `${SIGNATURE}0`, SIGNATURE.slice(1), `${SIGNATURE.slice(0, -1)}d`]) {
    const hint = `you should have sent HmacSHA256Hex("${text}", your_secret_key), but you sent "${wrong}"`;
    expect(await answerTo(`/apps/3/events?${SIGNED}&auth_signature=${wrong}`)).toEqual([
      401,
      `Invalid signature: ${hint}\n`,
    ]);
  }
});

test("a signature is valid for its method, path and query only", async () => {
  const query = signedQuery("GET", "/apps/3/channels", {});
  const application = new TestApplication();
  expect((await send(application, "GET", `/apps/3/channels?${query}`)).status).toBe(200);
  expect((await send(application, "GET", `/apps/3/channels?${query}&info=subscription_count`)).status).toBe(
    401,
  );
  expect((await send(application, "GET", `/apps/3/channels/my-channel?${query}`)).status).toBe(401);
  expect((await send(application, "POST", `/apps/3/batch_events?${query}`)).status).toBe(401);
});

test("a missing or unknown parameter is named", async () => {
  const without = (name: string) =>
    SIGNED.split("&")
      .filter((part) => !part.startsWith(name))
      .join("&");
  expect(await answerTo("/apps/3/events")).toEqual([401, "Missing parameter: auth_key\n"]);
  expect(await answerTo(signed(without("auth_timestamp")))).toEqual([401, "Timestamp required\n"]);
  expect(await answerTo(signed(without("auth_version")))).toEqual([401, "Version required\n"]);
  expect(await answerTo(signed(SIGNED.replace("1.0", "1.1")))).toEqual([401, "Version not supported\n"]);
  expect(await answerTo(signed(SIGNED.replace(KEY, "other")))).toEqual([401, "Unknown auth_key\n"]);
  expect(await answerTo(`/apps/3/events?${SIGNED}`)).toEqual([401, "Missing parameter: auth_signature\n"]);
});

function at(seconds: number | string): Promise<[number, string]> {
  return answerTo(signed(SIGNED.replace("1353088179", String(seconds))));
}

test("a timestamp is valid for 600 s before and after", async () => {
  expect((await at(NOW_SECONDS - 600))[0]).toBe(200);
  expect((await at(NOW_SECONDS + 600))[0]).toBe(200);
  expect((await at(`${NOW_SECONDS}.75`))[0]).toBe(200);
  const range = "not within 600s of server time (2012-11-16T17:49:39Z)\n";
  expect(await at(NOW_SECONDS - 601)).toEqual([
    401,
    `Timestamp expired: Given timestamp (2012-11-16T17:39:38Z) ${range}`,
  ]);
  expect(await at(NOW_SECONDS + 601)).toEqual([
    401,
    `Timestamp expired: Given timestamp (2012-11-16T17:59:40Z) ${range}`,
  ]);
  for (const wrong of ["now", "-1", "1e9", "9".repeat(13), "NaN"]) {
    expect(await at(wrong)).toEqual([401, "Invalid auth_timestamp: it must be the seconds since 1970\n"]);
  }
});

test("a body that is not the signed body is refused", async () => {
  const url = `/apps/3/events?${SIGNED}&auth_signature=${SIGNATURE}`;
  const wrong = "Invalid body_md5: it is not the MD5 of the body\n";
  expect(await answerTo(url, `${BODY} `)).toEqual([401, wrong]);
  expect(await answerTo(url, "")).toEqual([401, wrong]);
  const withoutMd5 = SIGNED.replace(`&body_md5=${BODY_MD5}`, "");
  expect(await answerTo(signed(withoutMd5))).toEqual([401, "Missing parameter: body_md5\n"]);
  expect(await answerTo(signed(SIGNED.replace(BODY_MD5, BODY_MD5.toUpperCase())))).toEqual([200, "{}"]);
});

test("a malformed escape in the query is refused", async () => {
  for (const escape of ["%", "%zz", "%ff", "%2"]) {
    expect(await answerTo(`/apps/3/events?${SIGNED}&x=${escape}`)).toEqual([
      400,
      "The URL contains a malformed percent-encoding\n",
    ]);
  }
});
