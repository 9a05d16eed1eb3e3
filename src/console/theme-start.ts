// Applies the chosen theme before the first paint; without a choice the system's theme holds.
import { applyTheme, chosenTheme } from "./parts/theme.ts";

applyTheme(chosenTheme());
