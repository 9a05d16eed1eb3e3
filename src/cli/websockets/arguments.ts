// The help texts of arguments and options that several commands take.
import { nameArgument } from "../options.ts";
import { clusterKind } from "./kind.ts";

export const CLUSTER = nameArgument(clusterKind.noun);
export const APPLICATION = "the application's name or id";
export const NAME = "2 to 40 lowercase letters, digits, underscores and hyphens; need not be unique";
export const CONNECTIONS = "of all applications together: 100, 200, 500, 2000, 5000 or 10000";
