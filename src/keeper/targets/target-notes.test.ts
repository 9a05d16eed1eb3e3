// The notes of deletions that wait for a target, across the ends of the keeper.
import { expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TargetNotes } from "./target-notes.ts";

test("a line that a full disk has cut short costs no other deletion", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-notes-"));
  try {
    const notes = new TargetNotes(folder, "b");
    notes.addDeletion("archive-1/one");
    const [file = ""] = readdirSync(folder);
    appendFileSync(join(folder, file), "archive-1/tw");
    notes.addDeletion("archive-1/three");
    await notes.save();
    const names = new TargetNotes(folder, "b").deletions.map(({ name }) => name);
    expect(names).toContain("archive-1/one");
    expect(names).toContain("archive-1/three");
    notes.dropDeletions(notes.deletions);
    await notes.save();
    expect(new TargetNotes(folder, "b").deletions).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
