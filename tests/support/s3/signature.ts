// Verifies the signatures of requests to S3: AWS Signature Version 4, in the header or in the query.
import { createHash, createHmac } from "node:crypto";

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Whether a request was signed with these credentials. */
export function isSigned(request: Request, credentials: Credentials): boolean {
  const url = new URL(request.url);
  const claim = claimOf(request, url);
  if (claim === null || claim.credential.split("/")[0] !== credentials.accessKeyId) return false;
  const scope = claim.credential.split("/").slice(1).join("/");
  const text = ["AWS4-HMAC-SHA256", claim.date, scope, sha256(canonical(request, url, claim))].join("\n");
  const key = scope
    .split("/")
    .reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${credentials.secretAccessKey}`));
  return hmac(key, text).toString("hex") === claim.signature;
}

interface Claim {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: string;
  payload: string;
}

function claimOf({ headers }: Request, { searchParams }: URL): Claim | null {
  const query = (name: string) => searchParams.get(`X-Amz-${name}`) ?? "";
  if (searchParams.has("X-Amz-Signature")) {
    return {
      credential: query("Credential"),
      signedHeaders: query("SignedHeaders"),
      signature: query("Signature"),
      date: query("Date"),
      payload: "UNSIGNED-PAYLOAD",
    };
  }
  const header = headers.get("authorization") ?? "";
  const [, credential, signedHeaders, signature] =
    /Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)/.exec(header) ?? [];
  if (credential === undefined || signedHeaders === undefined || signature === undefined) return null;
  return {
    credential,
    signedHeaders,
    signature,
    date: headers.get("x-amz-date") ?? "",
    payload: headers.get("x-amz-content-sha256") ?? "",
  };
}

function canonical({ method, headers }: Request, url: URL, { signedHeaders, payload }: Claim): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
  const lines = signedHeaders.split(";").map((name) => `${name}:${headers.get(name)?.trim() ?? ""}\n`);
  return [method, url.pathname, query, lines.join(""), signedHeaders, payload].join("\n");
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
