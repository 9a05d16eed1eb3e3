// Which files of tests run in one process, and in which order.
import { dirname, sep } from "node:path";

/** Files of `tests/api` in one process: enough for few starts of Postgres, few enough for all workers to have some. */
const API_FILES = 8;

/** The tests that kill processes or wait again and again, which take longest. */
const LONG =
  /crash|ledger|soak|\/(sleep|stopping|tour|story|queries|pusher-life|redis-parking|scheduler|websockets|keeper)\.(?:full\.)?test|backups\/databases/;
/** The tests that read text alone, which take least. */
const SHORT = /\/architecture\//;

/**
 * Files of one folder of `src/` are quick and run together, some files of `tests/api` share a process and its Postgres,
 * and every other file of `tests/` runs by itself; long jobs are begun first and the shortest last, so that all
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
    ...Object.values(folders),
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
