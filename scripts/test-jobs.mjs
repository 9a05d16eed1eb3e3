// Which files of tests are run, which of them run in one process, and in which order.
import { readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { checkoutDir } from "./setup.mjs";

/** Slow tests take turns of this length: some runs a day are each another part of them. */
const TURN_MS = 4 * 3_600_000;
/** What a file imports that takes a share of its own in each turn; see tests/crash/share.ts. */
const OWN_SHARE = "crash/share.ts";

/** The slow test that sees most of Pilvi, which no turn leaves out. */
const EVERY_TURN = /console\/story/;

/** How far the first file moves each time, as a part of all; multiples of the golden ratio spread evenly. */
const PART_AHEAD = 0.618;

/** Files of a folder of `src/` in one process: no job may take much longer than the others, or all wait for it. */
const SRC_FILES = 20;

/** Files of `tests/api` in one process: enough for few starts of Postgres, few enough for all workers to have some. */
const API_FILES = 8;

/** The tests that kill processes or wait again and again, which take longest. */
const LONG =
  /crash|ledger|soak|oracle|gateway-customers|backups-refresh|log-history|first-load|dumps|frameworks|laravel|snippets|\/(sleep|stopping|tour|story|attacks|queries|pusher-life|redis-parking|scheduler|websockets|websocket-usage|keeper)\.(?:full\.)?test|backups\/databases/;
/** The tests that read text alone, which take least. */
const SHORT = /\/architecture\//;

/** The number of the turn of this moment. */
export function currentTurn() {
  return Math.floor(Date.now() / TURN_MS);
}

/**
 * Divides slow tests over a number of turns. Those of a turn begin with another file each time it comes round, since a
 * run leaves the last ones out for want of time.
 * @returns those of this turn, with all that take a share of their own or belong to each turn, and those of the others.
 */
export function ofThisTurn(files, turns, turn) {
  const { always = [], whole = [] } = groupBy(files, (file) => (isOfEachTurn(file) ? "always" : "whole"));
  const isNow = (_, index) => (index + turn) % turns === 0;
  const now = whole.filter(isNow);
  const first = Math.floor(((Math.floor(turn / turns) * PART_AHEAD) % 1) * now.length);
  return {
    now: [...always, ...now.slice(first), ...now.slice(0, first)],
    later: whole.filter((file, index) => !isNow(file, index)),
  };
}

function isOfEachTurn(file) {
  return EVERY_TURN.test(file) || readFileSync(join(checkoutDir, file), "utf8").includes(OWN_SHARE);
}

/**
 * Some files of one folder of `src/` run together, as they are quick; some files of `tests/api` share a process and its
 * Postgres, and every other file of `tests/` runs by itself; long jobs are begun first and the shortest last, so that all
 * workers have something to do until the end.
 */
export function jobsOf(files) {
  const { src = [], tests = [] } = groupBy(files, (file) => file.split(sep)[1]);
  const folders = groupBy(src, (file) => file.split(sep)[2]);
  const { api = [], others = [] } = groupBy(tests, (file) =>
    file.split(sep)[2] === "api" ? "api" : "others",
  );
  const { long = [], medium = [], short = [] } = groupBy(others, lengthOf);
  return [
    ...Object.values(folders).flatMap((paths) => slices(paths, SRC_FILES)),
    ...slices(long, 1),
    ...slices(api, API_FILES),
    ...slices([...medium, ...short], 1),
  ];
}

function lengthOf(file) {
  if (LONG.test(file)) return "long";
  return SHORT.test(file) ? "short" : "medium";
}

function slices(files, count) {
  const starts = Array.from({ length: Math.ceil(files.length / count) }, (_, index) => index * count);
  return starts.map((start) => files.slice(start, start + count));
}

/** `Object.groupBy`, which Node 18 does not have. */
function groupBy(items, keyOf) {
  const groups = {};
  for (const item of items) (groups[keyOf(item)] ??= []).push(item);
  return groups;
}

/** How a job is called in the output. */
export function nameOf(files) {
  return files.length === 1 ? files[0] : dirname(files[0]);
}
