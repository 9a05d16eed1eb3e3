// The engines that come from Debian packages, and how.
import { foreignEngines } from "../../contracts/engine-names.ts";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import type { DebianSource } from "../foreign-program.ts";
import { programOf } from "../registry.ts";

export interface DebianRecipe extends DebianSource {
  name: ForeignEngine;
}

export const DEBIAN_RECIPES: DebianRecipe[] = foreignEngines.flatMap((name) => {
  const { debian } = programOf(name);
  return debian === undefined ? [] : [{ name, ...debian }];
});
