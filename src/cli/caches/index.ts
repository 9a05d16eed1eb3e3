// The commands about caches.
import type { Command } from "commander";
import { type Session, withExamples } from "../session.ts";
import { addCreate } from "./create.ts";
import { addDelete } from "./delete.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";
import { addTypes } from "./types.ts";

/** Adds `caches` with its commands. */
export function addCaches(program: Command, session: Session): void {
  const caches = program.command("caches").description("create, list, show and delete caches");
  for (const add of [addCreate, addList, addShow, addDelete, addTypes]) add(caches, session);
  withExamples(caches, ["pilvi caches create sessions --wait", "pilvi caches list"]);
}
