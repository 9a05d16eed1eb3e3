// The place of the source.
import { resolve } from "node:path";

/** The root folder of the source, whose `node_modules` carries Postgres. */
export const CHECKOUT_DIR = resolve(import.meta.dirname, "../../..");
