/**
 * The deeds of examples/warehouse and their undoings, on a warehouse that is one JSON file. Each may be carried out more than
 * once for an order (a worker may die after the deed and before its answer) and does it once: the order says what is done.
 * An undoing may find nothing to undo: of a deed whose worker fell silent nobody knows whether it was done.
 *
 * A worker is offered all tasks of these names, of whatever chart: so they are the warehouse's own, and one that is about no
 * order is refused.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const file = () => process.env.WAREHOUSE ?? "warehouse.json";
const full = {
  stock: { pallet: 10 },
  robots: { "AGV-1": null, "AGV-2": null },
  zones: {},
  bank: "open",
  orders: {},
};

/** Reads the warehouse, lets `change` change it, and puts it back whole or not at all. */
function inWarehouse(change) {
  const warehouse = existsSync(file()) ? JSON.parse(readFileSync(file(), "utf8")) : full;
  const result = change(warehouse);
  writeFileSync(`${file()}.new`, JSON.stringify(warehouse, null, 2));
  renameSync(`${file()}.new`, file());
  return result;
}
const refuse = (code, message) => {
  throw Object.assign(new Error(message), { code });
};
function orderOf(warehouse, input) {
  if (typeof input?.order !== "string") refuse("not-an-order", "the input names no order");
  return (warehouse.orders[input.order] ??= {});
}

export const reserveStock = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    if (order.reserved) return order.reserved;
    const { sku, quantity } = input;
    if ((warehouse.stock[sku] ?? 0) < quantity) refuse("out-of-stock", `there are not ${quantity} of ${sku}`);
    warehouse.stock[sku] -= quantity;
    return (order.reserved = { sku, quantity });
  });

export const returnStock = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    if (order.reserved) warehouse.stock[order.reserved.sku] += order.reserved.quantity;
    delete order.reserved;
  });

export const chargeOrder = (input) =>
  inWarehouse((warehouse) => (orderOf(warehouse, input).charged ??= input.amount));

export const refundOrder = (input) =>
  inWarehouse((warehouse) => {
    if (warehouse.bank === "closed") refuse("bank-closed", "the bank takes no refunds");
    delete orderOf(warehouse, input).charged;
  });

export const bookRobot = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    order.robot ??= Object.keys(warehouse.robots).find((robot) => warehouse.robots[robot] === null);
    if (order.robot === undefined) refuse("no-robot", "all robots are under way");
    warehouse.robots[order.robot] = input.order;
    return order.robot;
  });

export const freeRobot = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    if (order.robot) warehouse.robots[order.robot] = null;
    delete order.robot;
  });

export const shipPallet = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    const by = warehouse.zones[input.zone] ?? input.order;
    if (by !== input.order) refuse("zone-occupied", `${by} stands in zone ${input.zone}`);
    warehouse.zones[input.zone] = input.order;
    return (order.zone = input.zone);
  });

export const recallPallet = (input) =>
  inWarehouse((warehouse) => {
    const order = orderOf(warehouse, input);
    if (order.zone) delete warehouse.zones[order.zone];
    delete order.zone;
  });
