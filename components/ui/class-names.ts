/**
 * Joins class names; of two that set the same property the later wins. Knows our type scale, which tailwind-merge
 * would else take for colours (`text-body` beside `text-text-2`).
 */
import { clsx, type ClassValue } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({
  extend: {
    classGroups: {
      "font-size": [{ text: ["micro", "hint", "table", "body", "title", "dialog", "headline"] }],
      rounded: [{ rounded: ["kbd", "chip", "control", "box", "card", "dialog"] }],
      shadow: [{ shadow: ["1", "2", "3"] }],
    },
  },
});

export const cn = (...values: ClassValue[]): string => merge(clsx(values));
