"use client";
/**
 * Light, dark, or as the system has it.
 */
import { Monitor, Moon, Sun, SunMoon } from "lucide-react";
import { useTheme } from "next-themes";
import { IconButton } from "../button";
import { Menu } from "../menu";

export function ThemeMenu() {
  const { theme, setTheme } = useTheme();
  return (
    <Menu
      align="start"
      trigger={
        <IconButton label="Theme" data-testid="theme-menu">
          <SunMoon size={16} aria-hidden />
        </IconButton>
      }
      items={[
        {
          label: "Light",
          icon: Sun,
          checked: theme === "light",
          onSelect: () => setTheme("light"),
          testId: "theme-light",
        },
        {
          label: "Dark",
          icon: Moon,
          checked: theme === "dark",
          onSelect: () => setTheme("dark"),
          testId: "theme-dark",
        },
        {
          label: "As the system",
          icon: Monitor,
          checked: theme === "system",
          onSelect: () => setTheme("system"),
          testId: "theme-system",
        },
      ]}
    />
  );
}
