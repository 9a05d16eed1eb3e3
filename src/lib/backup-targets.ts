// The places where backups go, as a setting names them: folders and buckets of S3-compatible storage.
import { isAbsolute, normalize } from "node:path";

/** A folder, or a bucket with the beginning of the names in it. */
export type BackupTarget = { type: "folder"; path: string } | { type: "s3"; bucket: string; prefix: string };

/** The access to S3-compatible storage; without an endpoint it is that of Amazon. */
export interface S3Access {
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
const PREFIX = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;
const MAX_TARGETS = 8;

/** The targets of a text with commas between them, or what is wrong with it, as the end of a sentence. */
export function parseBackupTargets(text: string): BackupTarget[] | string {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > MAX_TARGETS) return `names more than ${MAX_TARGETS} targets`;
  const targets = parts.map(parseTarget);
  if (targets.includes(null))
    return "must be absolute paths and addresses such as s3://bucket/prefix, with commas between them";
  const known = targets.filter((target) => target !== null);
  const names = new Set(known.map(nameOf));
  return names.size === known.length ? known : "names a target twice";
}

function parseTarget(text: string): BackupTarget | null {
  if (isAbsolute(text) && !text.includes("\n"))
    return { type: "folder", path: normalize(text).replace(/(?<=.)\/+$/, "") };
  const [, bucket, rest = ""] = BUCKET.exec(text) ?? [];
  const prefix = rest.replace(/\/+$/, "");
  if (bucket === undefined || (prefix !== "" && !PREFIX.test(prefix))) return null;
  return { type: "s3", bucket, prefix };
}

function nameOf(target: BackupTarget): string {
  return target.type === "folder" ? target.path : `s3://${target.bucket}/${target.prefix}`;
}
