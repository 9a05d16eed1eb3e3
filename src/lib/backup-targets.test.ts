// The setting that names the places for backups.
import { describe, expect, test } from "bun:test";
import { parseBackupTargets } from "./backup-targets.ts";

describe("targets of backups", () => {
  test("are folders and buckets", () => {
    expect(parseBackupTargets("/mnt/backup/pilvi/, s3://my-bucket, s3://my-bucket/a/b/")).toEqual([
      { type: "folder", path: "/mnt/backup/pilvi" },
      { type: "s3", bucket: "my-bucket", prefix: "" },
      { type: "s3", bucket: "my-bucket", prefix: "a/b" },
    ]);
    expect(parseBackupTargets("/")).toEqual([{ type: "folder", path: "/" }]);
  });

  test.each([
    "backups",
    "/a,",
    "s3://",
    "s3://B",
    "s3://bucket/../other",
    "http://bucket",
    "s3://bucket/a//b",
  ])("%j is refused", (text) => {
    expect(parseBackupTargets(text)).toContain("must be absolute paths");
  });

  test.each(["/a,/a", "/a,/b/../a/", "s3://bucket,s3://bucket/"])("%j names a target twice", (text) => {
    expect(parseBackupTargets(text)).toBe("names a target twice");
  });

  test("are eight at most", () => {
    const paths = Array.from({ length: 9 }, (_, index) => `/backup${index}`);
    expect(parseBackupTargets(paths.join(","))).toBe("names more than 8 targets");
    expect(parseBackupTargets(paths.slice(1).join(","))).toHaveLength(8);
  });
});
