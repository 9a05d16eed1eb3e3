// In which order the output of processes is read.
import { expect, test } from "bun:test";
import { OutputTurns } from "./output-turns.ts";

/** Processes that are named after their environments: `a1` and `a2` are of `a`. */
function processes(...ids: string[]) {
  return ids.map((id) => ({ id, environment: id.slice(0, 1), deployment: null, path: `/${id}` }));
}

/** The processes of a turn that reads so many, in the order of their reading. */
function turnOf(turns: OutputTurns, ids: string[], most: number, loud: string[] = []): string[] {
  const read: string[] = [];
  const readOne = ({ id }: { id: string }) => {
    read.push(id);
    return loud.includes(id);
  };
  turns.run(processes(...ids), readOne, () => read.length < most);
  return read;
}

test("environments have their turns, and in each the process that has waited longest", () => {
  const turns = new OutputTurns();
  const ids = ["a1", "a2", "a3", "b1", "c1", "c2"];
  expect(turnOf(turns, ids, 4)).toEqual(["a1", "b1", "c1", "a2"]);
  expect(turnOf(turns, ids, 4)).toEqual(["b1", "c2", "a3", "c1"]);
  expect(turnOf(turns, [...ids, "d1"], 100)).toEqual(["d1", "b1", "a1", "c2", "a2", "c1", "a3"]);
});

test("a loud process is read again when all others of its environment were read, as long as there is time", () => {
  const turns = new OutputTurns();
  expect(turnOf(turns, ["a1", "a2", "b1"], 8, ["a1", "b1"])).toEqual([
    "a1",
    "b1",
    "a2",
    "b1",
    "a1",
    "b1",
    "a1",
    "b1",
  ]);
});

test("a turn without processes reads nothing", () => {
  expect(turnOf(new OutputTurns(), [], 5)).toEqual([]);
});
