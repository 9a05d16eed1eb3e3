// Compares the drawing of an instance's lifecycle in ARCHITECTURE.md with the table that the host goes by.
import { expect, test } from "bun:test";
import { OBSERVED, TRANSITIONS, targetOf, type StateName } from "../../src/host/lifecycle/state.ts";
import { markdown } from "./markdown.ts";

const [, text = ""] = /^## Lifecycle of an instance\n([\s\S]*?)^## /m.exec(markdown("ARCHITECTURE.md")) ?? [];

const [, drawing = ""] = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(text) ?? [];

/** Transitions as `from event to`. */
const drawn = [...drawing.matchAll(/^ *(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, events = ""]) =>
  events.split(", ").map((event) => `${from} ${event} ${to}`),
);

const names = Object.keys(TRANSITIONS) as StateName[];

test("every transition of the table is drawn, and no other", () => {
  const transitions = Object.entries(TRANSITIONS).flatMap(([from, moves]) =>
    Object.entries(moves).map(([event, to]) => `${from} ${event} ${to}`),
  );
  expect(drawn.toSorted()).toEqual([...transitions, "any removalBegun removing"].toSorted());
});

test("a removal leads from every other state to removing", () => {
  const others = names.filter((name) => name !== "removing");
  expect(others.map((name) => targetOf(name, "removalBegun"))).toEqual(others.map(() => "removing"));
});

test("every state stands in the table of states, with what others see", () => {
  const rows = [...text.matchAll(/^\| `(\w+)` +\| `(\w+)` +\|/gm)].map(([, name, seen]) => [name, seen]);
  expect(Object.fromEntries(rows)).toEqual(OBSERVED);
});
