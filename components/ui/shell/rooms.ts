/**
 * The rooms of the console that exist, in the order of the navigation.
 */
import {
  Boxes,
  CalendarClock,
  ClipboardCheck,
  LayoutDashboard,
  Lock,
  Workflow,
  type LucideIcon,
} from "lucide-react";
import type { Route } from "next";

export interface Room {
  name: string;
  href: Route;
  icon: LucideIcon;
  matches: (path: string) => boolean;
}

const under = (prefix: string) => (path: string) => path === prefix || path.startsWith(`${prefix}/`);

export const rooms: Room[] = [
  { name: "Overview", href: "/", icon: LayoutDashboard, matches: (path) => path === "/" },
  {
    name: "Instances",
    href: "/instances",
    icon: Boxes,
    matches: (path) => under("/instances")(path) || under("/batches")(path),
  },
  { name: "Locks", href: "/locks", icon: Lock, matches: under("/locks") },
  { name: "Work", href: "/work", icon: ClipboardCheck, matches: under("/work") },
  { name: "Schedules", href: "/schedules", icon: CalendarClock, matches: under("/schedules") },
  { name: "Charts", href: "/charts", icon: Workflow, matches: under("/charts") },
];

/** Pages that need the width: the editor, time travel, locks. They get the 44 px rail instead of the sidebar. */
export const isDense = (path: string): boolean =>
  path.startsWith("/charts/") ||
  path.startsWith("/instances/") ||
  under("/locks")(path) ||
  under("/work")(path) ||
  under("/schedules")(path);
