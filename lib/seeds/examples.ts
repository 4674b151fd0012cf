/**
 * What a new database shows at first: two charts, instances in the middle of their work, locks that they hold and wait for.
 *
 * Does not: write anything (compose.ts plants it through the runtime's own verbs, so it is real history).
 */
import type { Json } from "@/lib/base/json";
import type { Layout } from "@/lib/diagram/layout";
import type { Chart } from "@/lib/statechart/document";
import { agvMission } from "./agv-mission";
import { agvMissionLayout } from "./agv-mission.layout";
import { order } from "./order";
import { orderLayout } from "./order.layout";

export interface ExampleInstance {
  id: string;
  chartId: string;
  businessKey?: string;
  labels?: Record<string, string>;
  input?: Json;
  events: { type: string; data?: Json }[];
}
export interface ExampleLock {
  key: string;
  holder: string;
  session: string;
  ttlMs: number;
  /** Given: waits this long in the background instead of asking once. */
  waitMs?: number;
}

export const exampleCharts: { id: string; chart: Chart; layout: Layout; note: string }[] = [
  { id: "agv-mission", chart: agvMission, layout: agvMissionLayout, note: "First version" },
  { id: "order", chart: order, layout: orderLayout, note: "First version" },
];

const assign = (mission: string, pallet: string, zone: string) => ({
  type: "ASSIGN",
  data: { mission, pallet, zone },
});
const reserved = { type: "RESERVED" };
const arrived = (zone: string, occupied: boolean, kg: number) => ({
  type: "ARRIVED",
  data: { zone, occupied, kg },
});
const level = (soc: number) => ({ type: "LEVEL", data: { soc } });
const pickedUp = [arrived("pick-up", false, 0), { type: "LIFTED" }];

export const exampleInstances: ExampleInstance[] = [
  {
    id: "agv-07",
    chartId: "agv-mission",
    businessKey: "M-20931",
    labels: { site: "hall-2", vehicle: "07" },
    events: [
      assign("M-20931", "P-88102", "Z-14"),
      reserved,
      level(71),
      ...pickedUp,
      { type: "WAYPOINT", data: { marker: 12 } },
      { type: "OBSTACLE" },
      { type: "CLEARED" },
      arrived("Z-14", true, 640),
      level(58),
    ],
  },
  {
    id: "agv-12",
    chartId: "agv-mission",
    businessKey: "M-20928",
    labels: { site: "hall-2", vehicle: "12" },
    events: [
      assign("M-20928", "P-90117", "Z-14"),
      reserved,
      ...pickedUp,
      arrived("Z-14", false, 410),
      level(33),
    ],
  },
  {
    id: "agv-19",
    chartId: "agv-mission",
    businessKey: "M-20933",
    labels: { site: "hall-1", vehicle: "19" },
    events: [
      level(17),
      assign("M-20933", "P-88213", "Z-02"),
      level(64),
      assign("M-20933", "P-88213", "Z-02"),
      reserved,
      level(15),
    ],
  },
  {
    id: "agv-22",
    chartId: "agv-mission",
    businessKey: "M-20915",
    labels: { site: "hall-1", vehicle: "22" },
    events: [
      assign("M-20915", "P-86020", "Z-09"),
      reserved,
      ...pickedUp,
      arrived("Z-09", false, 300),
      { type: "LOWERED" },
    ],
  },
  {
    id: "order-1001",
    chartId: "order",
    businessKey: "1001",
    labels: { shop: "north" },
    input: { total: 40 },
    events: [
      { type: "pay", data: { amount: 25 } },
      { type: "pay", data: { amount: 15 } },
      { type: "ship", data: { tracking: "NP-4471" } },
    ],
  },
  {
    id: "order-1002",
    chartId: "order",
    businessKey: "1002",
    labels: { shop: "north" },
    input: { total: 120 },
    events: [
      { type: "ship", data: { tracking: "NP-4472" } },
      { type: "pay", data: { amount: 60 } },
    ],
  },
  {
    id: "order-1003",
    chartId: "order",
    businessKey: "1003",
    labels: { shop: "south" },
    input: { total: 15 },
    events: [{ type: "cancel" }],
  },
];

const hourMs = 3_600_000;
export const exampleLocks: ExampleLock[] = [
  { key: "zone:Z-14", holder: "agv-12", session: "s-agv-12", ttlMs: hourMs },
  { key: "pallet:P-88102", holder: "agv-07", session: "s-agv-07", ttlMs: hourMs },
  { key: "pallet:P-86020", holder: "agv-22", session: "s-agv-22", ttlMs: hourMs },
  { key: "aisle:A3", holder: "agv-19", session: "s-agv-19", ttlMs: 5_000 },
  { key: "zone:Z-14", holder: "agv-07", session: "s-agv-07", ttlMs: 30_000, waitMs: hourMs },
];
