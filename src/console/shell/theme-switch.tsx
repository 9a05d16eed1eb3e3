// The switch between the themes.
import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../parts/button.tsx";
import { chooseTheme, chosenTheme, type Theme, THEMES } from "../parts/theme.ts";

const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const Icon = ICONS[theme];
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <IconButton
      label={`Theme: ${theme}. Change to ${next}.`}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    >
      <Icon size={15} />
    </IconButton>
  );
}
