// Where the source is.
import { dirname } from "node:path";

/** The root folder of the source, whose `node_modules` carries Postgres. */
export const CHECKOUT_DIR = dirname(dirname(import.meta.dirname));
