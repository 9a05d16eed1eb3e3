// The help texts of arguments that several commands take.
import { nameArgument } from "../options.ts";
import { clusterKind } from "./kind.ts";

export const CLUSTER = nameArgument(clusterKind.noun);
export const APPLICATION = "the application's name or id";
