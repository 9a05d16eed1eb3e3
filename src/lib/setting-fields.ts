// The types of settings in the environment, each with a sentence for a value that does not fit.
import { isAbsolute, resolve } from "node:path";
import { isIP } from "node:net";
import { z } from "zod";
import { isClientUrl } from "./api-address.ts";
import { parseBackupTargets } from "./backup-targets.ts";
import { parseByteSize } from "./byte-size.ts";

export const port = z
  .string()
  .regex(/^\d+$/, "must be a whole number")
  .transform(Number)
  .refine((value) => value >= 1 && value <= 65_535, "must be from 1 to 65535");

export const portRange = z
  .string()
  .regex(/^\d+-\d+$/, "must be two port numbers with a hyphen between them, such as 20000-29999")
  .transform((text) => {
    const [first = 0, last = 0] = text.split("-").map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first >= 1024 && last <= 65_535, "must lie within 1024-65535")
  .refine(({ first, last }) => first <= last, "must begin with the lower port");

export const flag = z.enum(["0", "1"], "must be 0 or 1").transform((value) => value === "1");

export const address = z
  .string()
  .transform((text) => (text === "localhost" ? "127.0.0.1" : text))
  .refine((text) => isIP(text) !== 0, "must be an IP address");

export const hostName = z.string().regex(/^[A-Za-z0-9._:-]+$/, "must be a host name or an IP address");

export const databaseUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol),
    "must be a URL that begins with postgres://",
  );

export const bearerToken = z
  .string()
  .regex(/^[A-Za-z0-9._~+/=|-]+$/, "has characters that a bearer token cannot have");

/** Servers, each with its port, with commas between them. */
export const servers = z
  .string()
  .transform((text) => text.split(",").map((each) => each.trim().toLowerCase()))
  .refine(
    (all) => all.every((each) => /^[a-z0-9._:-]+:\d{1,5}$/.test(each)),
    "must be HOST:PORT, with commas between several",
  );

/** A whole number of up to nine digits. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number, 0 for no limit")
  .transform(Number);

/** Bytes, with or without a unit. */
export const byteSize = z.string().transform((text, context) => {
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return bytes;
  context.addIssue({ code: "custom", message: "must be a size such as 500mb, 2.5gb or 4tb, 0 for no limit" });
  return z.NEVER;
});

/** Places for backups, with commas between them. */
export const backupTargets = z.string().transform((text, context) => {
  const targets = parseBackupTargets(text);
  if (typeof targets !== "string") return targets;
  context.addIssue({ code: "custom", message: targets });
  return z.NEVER;
});

export const httpUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "must be a URL that begins with http:// or https://",
  );

/** A number of at most three digits. */
export const smallNumber = z
  .string()
  .regex(/^\d{1,3}$/, "must be a whole number below 1000, 0 for none")
  .transform(Number);

/** How long something is kept. */
export const days = wholeNumber.refine((value) => value >= 1 && value <= 3_650, "must be from 1 to 3650");

/** The URL of a Pilvi, without `/api` and without a slash at the end. */
export const clientUrl = z
  .string()
  .refine(isClientUrl, "must be a URL such as https://pilvi.example.com, with nothing after the path")
  .transform((text) => text.replace(/\/+$/, "").replace(/\/api$/, ""));

export const logLevel = z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error");

/** A path as a setting has it, from the root of the file system. */
export function absolute(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}
